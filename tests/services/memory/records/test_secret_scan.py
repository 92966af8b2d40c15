import base64
import hashlib
import string
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.records.secret_scan import find_secrets

SECRETS = [
    ("model_provider_key", "The deploy key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"),
    ("aws_access_key", "AKIAIOSFODNN7EXAMPLE"),
    ("aws_access_key", "AKI\u200bAIOSFODNN7EXAMPLE"),
    ("aws_access_key", "\uff21\uff2b\uff29\uff21IOSFODNN7EXAMPLE"),
    ("github_token", "my github token ghp_abcdefghijklmnopqrstuvwxyzABCDEFGHIJ"),
    ("slack_token", "xoxb-123456789012-abcdefghijkl"),
    ("stripe_key", "sk_live_1234567890abcdef12345678"),
    ("prefixed_token", "mib-secret-0123456789abcdef0123"),
    ("private_key", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"),
    ("private_key", "-----BEGIN OPENSSH PRIVATE KEY-----"),
    ("url_password", "postgres://bob:s3cret@db.internal/x"),
    ("json_web_token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N"),
    ("card_number", "Card 4111 1111 1111 1111 exp 12/27"),
    ("card_number", "5555-5555-5555-4444"),
    ("card_number", "378282246310005"),
    ("password", "my password is hunter2"),
    ("password", "My password is swordfish."),
    ("password", "password: Tr0ub4dor&3"),
    ("password", "PASSWORD=swordfish"),
    ("password", "db_password = 'correct horse'"),
    ("password", "'password' : 'letmein99'"),
    ("password", "the passphrase is correct-horse-battery-staple"),
    ("password", "The password for the staging box is Tr0ub4dor"),
    ("password", "remember that my password was changed to Sommer2024!"),
    ("password", "set the password to hunter22"),
    ("password", "password hunter2"),
    ("pin", "my PIN is 4821"),
    ("named_key", "api_key=9f8a7b6c5d4e3f2a"),
    ("named_key", "client secret: Qz9-aa81hhG"),
    ("named_key", "token=aB3dE5gH7jK9mN1p"),
    ("seed_phrase", "seed phrase: " + "army van defense carry jealous true " * 2),
]

BENIGN = [
    "order 550e8400-e29b-41d4-a716-446655440000",
    "token 550e8400-e29b-41d4-a716-446655440000",
    "idempotency key is 550e8400-e29b-41d4-a716-446655440000",
    "commit 1a16ae7f2b3c4d5e6f708192a3b4c5d6e7f80910",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "Order number 1234567890123456 ships",
    "order #W2378156 and tracking 1Z999AA10123456784",
    "IBAN DE89 3704 0044 0532 0130 00",
    "call +49 30 1234567890",
    "ISBN 978-3-16-148410-0",
    "EAN 4006381333931",
    "timestamp 1700000000000",
    "He forgot his password is case sensitive",
    "the password is required",
    "Her password is expired.",
    "the password was reset yesterday",
    "the password is used to log in",
    "Bob's password is needed to login.",
    "password (optional)",
    "Password: N/A",
    "Password policy: at least 12 characters with 1 digit",
    "The password manager is 1Password7.",
    "Passwords are hashed with bcrypt.",
    "She never shares her password.",
    "please reset my password",
    "The secret is patience.",
    "My secret to success is practice.",
    "The token ring network is old.",
    "the key is under the mat",
    "The API key rotation is on Monday.",
    "the access token expires in 3600 seconds",
    "skateboard sk-8 park",
    "https://docs.example.com/d/1A2b3C4d5E6f7G8h9I0jK1lM2nO3pQ4rS5tU6vW7x/edit",
    "SGVsbG8gd29ybGQsIHRoaXMgaXMgYSB0ZXN0IG9mIGJhc2U2NA==",
    "/usr/lib/python3/dist-packages/SomePackage2/VeryLongModuleName/file.py",
    "rec_0123456789abcdef0123456789abcdef",
]


@pytest.mark.parametrize(("kind", "text"), SECRETS)
def test_secrets_are_found(kind: str, text: str) -> None:
    assert kind in find_secrets(text)


@pytest.mark.parametrize("text", BENIGN)
def test_look_alikes_pass(text: str) -> None:
    assert find_secrets(text) == ()


@pytest.mark.parametrize(("kind", "text"), SECRETS)
def test_encodings_do_not_hide_them(kind: str, text: str) -> None:
    data = text.encode("utf-8")
    once = base64.b64encode(data).decode("ascii")
    assert kind in find_secrets(f"note {once} end")
    assert kind in find_secrets(base64.urlsafe_b64encode(data).decode("ascii").rstrip("="))
    assert kind in find_secrets(base64.b64encode(once.encode("ascii")).decode("ascii"))
    assert kind in find_secrets(base64.encodebytes((data + b"\n") * 3).decode("ascii"))
    assert kind in find_secrets(data.hex())


PROSE = st.text(alphabet=string.ascii_lowercase + " ,.", max_size=200)


@given(PROSE, PROSE, st.sampled_from(SECRETS))
def test_they_are_found_wherever_they_stand(
    before: str, after: str, secret: tuple[str, str]
) -> None:
    kind, text = secret
    assert kind in find_secrets(f"{before}\n{text}\n{after}")


def test_a_digest_that_ends_like_a_card_passes() -> None:
    digest = hashlib.sha256(b"\xf4\x17%\x1d<\xff!?r\xcaU").hexdigest()
    assert digest.endswith("4883639709513")
    assert find_secrets(f"The order {digest} was shipped.") == ()
    assert find_secrets("The order 4883639709513 was shipped.") == ("card_number",)


@given(st.uuids(), st.binary(min_size=1, max_size=64))
def test_ids_and_digests_always_pass(identifier: uuid.UUID, data: bytes) -> None:
    # SHA-1 only makes the shape of a commit id here.
    commit = hashlib.sha1(data, usedforsecurity=False).hexdigest()
    digest = hashlib.sha256(data).hexdigest()
    for value in (str(identifier), commit, digest, digest.upper(), f"nonce-{digest[:16]}"):
        assert find_secrets(f"The order {value} was shipped.") == ()


@given(st.text(alphabet=string.ascii_letters + string.digits, min_size=48, max_size=64))
def test_what_is_found_is_never_told(text: str) -> None:
    assert all(text not in kind for kind in find_secrets(f"api_key={text}"))


@given(st.integers(min_value=0, max_value=10**15 - 1))
def test_a_card_number_needs_its_check_digit(body: int) -> None:
    digits = f"4{body:015d}"
    total = sum(int(d) if i % 2 else sum(divmod(2 * int(d), 10)) for i, d in enumerate(digits))
    if set(digits[1:]) == {"4"}:
        return
    assert ("card_number" in find_secrets(f"card {digits}.")) == (total % 10 == 0)
