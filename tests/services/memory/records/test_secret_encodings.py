"""Secrets in disguise are found, and what only looks like one is not."""

import base64
import string
import urllib.parse
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.memory.records.secret_encodings import decoded
from services.memory.records.secret_scan import find_secrets
from services.memory.records.text import visible_form

SECRETS = [
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_abcdefghijklmnopqrstuvwxyzABCDEFGHIJ",
    "my password is hunter2",
    "mib-secret-0123456789abcdef0123",
    "4111 1111 1111 1111",
    "postgres://bob:s3cret@db.internal/x",
]
CYRILLIC = str.maketrans(
    "AaEeOoPpCcXxKMHTBSsiIjy",
    "\u0410\u0430\u0415\u0435\u041e\u043e\u0420\u0440\u0421\u0441\u0425"
    "\u0445\u041a\u041c\u041d\u0422\u0412\u0405\u0455\u0456\u0406\u0458\u0443",
)
GREEK = str.maketrans(
    "AEOPXKMHTBIo",
    "\u0391\u0395\u039f\u03a1\u03a7\u039a\u039c\u0397\u03a4\u0392\u0399\u03bf",
)


def _wrapped(text: str, width: int) -> str:
    return "\n".join(text[start : start + width] for start in range(0, len(text), width))


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


DISGUISES: dict[str, Callable[[str], str]] = {
    "base64": _base64,
    "base64 with a name": lambda text: f"data={_base64(text)}",
    "base64 after a mark": lambda text: f"blob_{_base64(text)}",
    "base64 in short lines": lambda text: _wrapped(_base64(text), 8),
    "base64 in lines": lambda text: _wrapped(_base64(text), 20),
    "base64 in lines, in prose": lambda text: f"Here:\n{_wrapped(_base64(text), 20)}\nThat is all",
    "base32": lambda text: base64.b32encode(text.encode()).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
    "capital hexadecimal": lambda text: text.encode().hex().upper(),
    "hexadecimal with colons": lambda text: text.encode().hex(":"),
    "hexadecimal with blanks": lambda text: text.encode().hex(" "),
    "hexadecimal with a prefix": lambda text: "0x" + text.encode().hex(),
    "byte escapes": lambda text: "".join(f"\\x{byte:02x}" for byte in text.encode()),
    "percent": lambda text: "".join(f"%{byte:02X}" for byte in text.encode()),
    "percent twice": lambda text: urllib.parse.quote(urllib.parse.quote(text)),
    "entities": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "unicode escapes": lambda text: "".join(f"\\u{ord(char):04x}" for char in text),
    "cyrillic letters": lambda text: text.translate(CYRILLIC),
    "greek letters": lambda text: text.translate(GREEK),
    "full width": lambda text: "".join(
        chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text
    ),
}
UNSEEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u034f\u180b\ufe0f\u115f\u3164\U000e0101\u2800"

CARDS = [
    "4111.1111.1111.1111",
    "4111\u20111111\u20111111\u20111111",
    "4111\u00a01111\u00a01111\u00a01111",
    "4111 1111 1111 1111 12/27",
    "4111 1111 1111 1111 123",
    "card=4111111111111111",
    "Card4111111111111111",
    "4111-1111-1111-1111-",
    "3782 822463 10005",
]
KEYS = [
    "-----BEGIN PRIVATE KEY----- MIIEvQIBADANBg -----END PRIVATE KEY-----",
    "-----BEGIN EC PRIVATE KEY-----\\nMHcCAQEE\\n",
    "----- BEGIN RSA PRIVATE KEY -----",
    "-----begin private key-----",
]
CONNECTIONS = [
    "redis://:p4ssw0rd@cache:6379",
    "Server=db;User Id=sa;Password=Secr3t!;",
    "jdbc:mysql://h/db?user=root&password=hunter22",
    "mongodb+srv://u:p4ss%40x@cluster0.mongodb.net",
    "amqp://guest:guest@rabbit/",
    "Endpoint=sb://x/;SharedAccessKeyName=r;SharedAccessKey=abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN=",
    "Authorization: Basic Ym9iOmh1bnRlcjI=",
]
SPOKEN = [
    "use hunter2 as the password",
    "Log in with bob and hunter2 as password",
    "hunter2 is my password",
    "pw: hunter2",
    "the wifi password's hunter2",
    "Password - hunter2",
    "Password \u2192 hunter2",
    "my pass is hunter2",
    "pass: hunter2",
]
TOKENS = [
    "sk-ant-api03-abcdefghijklmnop1234",
    "gsk_abcdefghijklmnopqrstuvwxyz0123456789",
    "dckr_pat_abcdefghijklmnopqrstuvwxyz1",
    "pplx-abcdefghijklmnopqrstuvwx12345678",
    "r8_abcdefghijklmnopqrstuvwxyz0123456789A",
    "NRAK-ABCDEFGHIJKLMNOPQRSTUVWXYZ1",
    "PMAK-5f0c1b2a3d4e5f6a7b8c9d0e-0123456789abcdef0123456789abcdef01",
    "hf_abcdefghijklmnopqrstuvwxyzABCDEF12",
    "sq0atp-abcdefghijklmnopqrstuv",
]
HARMLESS = [
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl bob@host",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ",
    "fingerprint SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8",
    "fp 43:51:43:a1:b5:fc:8b:b7:0a:3a:a9:b1:0f:66:73:a8",
    "IBAN GB29 NWBK 6016 1331 9268 19",
    "IBAN BE68 5390 0754 7034",
    "tracking 9400 1000 0000 0000 0000 00",
    "serial 4111-2222-3333-4445",
    "VIN WVWZZZ1JZXW000001",
    "MAC 00:1a:2b:3c:4d:5e",
    "ip 2001:0db8:85a3:0000:0000:8a2e:0370:7334",
    'etag W/"0815abcdef0123456789"',
    "doi 10.1000/182",
    "My boarding pass is 12A",
    "boarding pass: LH1234",
    "The pass is closed in winter",
    "passport number C01X00T47",
    "the mountain pass: beautiful",
    "Password - required",
    "Step2 is the password page",
    "the password's length is 12",
    "\u0421\u0442\u0440\u0430\u043d\u0438\u0446\u0430 4",
    "caf\u00e9 na\u00efve \u2014 \u201cquoted\u201d",
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES.keys())
def test_a_disguise_does_not_hide_a_secret(secret: str, disguise: Callable[[str], str]) -> None:
    assert find_secrets(disguise(secret))


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("unseen", UNSEEN, ids=lambda char: f"U+{ord(char):04X}")
def test_what_nobody_sees_does_not_hide_a_secret(secret: str, unseen: str) -> None:
    assert find_secrets(unseen.join(secret))
    assert visible_form(unseen.join(secret)) == secret


@pytest.mark.parametrize("text", [*CARDS, *KEYS, *CONNECTIONS, *SPOKEN, *TOKENS])
def test_other_ways_to_write_one_are_found(text: str) -> None:
    assert find_secrets(text)
    assert find_secrets(f"Please note: {text}")


@pytest.mark.parametrize("text", HARMLESS)
def test_more_look_alikes_pass(text: str) -> None:
    assert find_secrets(text) == ()


@settings(deadline=None)
@given(st.sampled_from(SECRETS), st.lists(st.sampled_from(sorted(DISGUISES)), max_size=2))
def test_two_disguises_do_not_hide_it_either(secret: str, names: list[str]) -> None:
    text = secret
    for name in names:
        text = DISGUISES[name](text)
    # A second one over a form with blanks of its own is a form of another text.
    if all("blanks" not in name and "prose" not in name and "lines" not in name for name in names):
        assert find_secrets(text)


@settings(deadline=None)
@given(st.text(max_size=300))
def test_nothing_decodes_to_itself_and_every_text_is_read(text: str) -> None:
    assert text not in set(decoded(text))
    find_secrets(text)


@settings(deadline=None)
@given(st.text(string.hexdigits + " :-\n=_\\xu%&#;", max_size=400))
def test_half_an_encoding_is_read(text: str) -> None:
    find_secrets(text)


@settings(deadline=None)
@given(st.integers(0, 10**18 - 1), st.sampled_from(["DE", "FR", "NO", "GB"]))
def test_an_account_number_is_no_card(body: int, country: str) -> None:
    rest = f"{body:018d}"
    turned = rest + "".join(str(int(char, 36)) for char in country) + "00"
    check = 98 - int(turned) % 97
    iban = f"{country}{check:02d}{rest}"
    spaced = " ".join(iban[start : start + 4] for start in range(0, len(iban), 4))
    assert find_secrets(f"Pay to {iban} please") == ()
    assert find_secrets(f"Pay to {spaced} please") == ()
