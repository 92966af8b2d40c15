"""What secrets look like: published token formats, and the words that people put before a secret.

The formats are those that their issuers document for scanners. Data only; `secret_scan` uses it.
"""

import re

from services.memory.records.words import word_set

__all__ = [
    "ASSIGNMENTS",
    "BENIGN_VALUES",
    "CARD_RANGES",
    "CHANGE_WORDS",
    "FILLERS",
    "KEY_WORDS",
    "OPERATORS",
    "PASSWORD_WORDS",
    "POLICY_WORDS",
    "TOKEN_SHAPES",
    "WEAK_KEY_WORDS",
    "WEAK_PASSWORD_WORDS",
    "CardRange",
]

CardRange = tuple[int, int, frozenset[int]]

_START = r"(?<![A-Za-z0-9])"
_BODY = "[A-Za-z0-9_-]"

# (stable kind, shape). Every shape starts at a fixed prefix, so that scanning stays linear.
TOKEN_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(shape))
    for kind, shape in (
        ("private_key", r"(?i)-{3,5} ?BEGIN\s(?:[A-Z0-9]{1,12}\s){0,4}PRIVATE\sKEY"),
        ("private_key", r"PuTTY-User-Key-File-\d"),
        ("private_key", r"AGE-SECRET-KEY-1[0-9A-Z]{20,}"),
        ("aws_access_key", _START + r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[0-9A-Z]{16}(?![0-9A-Z])"),
        ("github_token", _START + r"gh[pousr]_[A-Za-z0-9]{30,}"),
        ("github_token", _START + r"github_pat_[A-Za-z0-9_]{22,}"),
        ("gitlab_token", _START + r"gl(?:pat|ptt|dt|rt|cbt|ft|soat|imt|agent|oas)-[\w-]{20,}"),
        ("slack_token", _START + r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
        ("slack_token", _START + r"xapp-\d-[A-Za-z0-9-]{10,}"),
        ("slack_webhook", r"hooks\.slack\.com/services/[A-Z0-9]+/[A-Z0-9]+/[A-Za-z0-9]+"),
        ("stripe_key", _START + r"(?:sk|rk|pk|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,}"),
        ("model_provider_key", _START + rf"sk-{_BODY}{{16,}}"),
        (
            "model_provider_key",
            _START + r"(?:gsk_|pplx-|xai-|r8_|pcsk_|fw_|tgp_v1_)[A-Za-z0-9_-]{24,}",
        ),
        ("google_key", _START + rf"AIza{_BODY}{{35}}"),
        ("google_key", _START + rf"(?:ya29\.|GOCSPX-){_BODY}{{20,}}"),
        ("sendgrid_key", _START + rf"SG\.{_BODY}{{16,32}}\.{_BODY}{{32,64}}"),
        ("twilio_key", _START + r"(?:AC|SK)[0-9a-f]{32}(?![0-9a-f])"),
        ("package_registry_token", _START + r"npm_[A-Za-z0-9]{30,}"),
        ("package_registry_token", _START + rf"pypi-{_BODY}{{50,}}"),
        ("package_registry_token", _START + r"(?:rubygems_|cio)[A-Za-z0-9]{32,}"),
        ("model_hub_token", _START + r"hf_[A-Za-z0-9]{30,}"),
        ("container_registry_token", _START + rf"dckr_(?:pat|oat)_{_BODY}{{20,}}"),
        ("payment_key", _START + rf"(?:sq0(?:atp|csp|idp)-|EAAA){_BODY}{{20,}}"),
        ("payment_key", _START + r"access_token\$(?:production|sandbox)\$\w{16,}"),
        ("cloud_token", _START + r"do[opr]_v1_[0-9a-f]{40,}"),
        ("cloud_token", _START + r"dapi[0-9a-f]{32}"),
        ("cloud_token", _START + rf"hv[sbr]\.{_BODY}{{20,}}"),
        ("cloud_token", _START + r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
        (
            "cloud_token",
            _START + rf"(?:glsa_|glc_|sbp_|lin_api_|ntn_|figd_|dp\.pt\.){_BODY}{{20,}}",
        ),
        (
            "cloud_token",
            _START + rf"(?:NRAK-|PMAK-|HRKU-|sntry[su]_|fo1_|pscale_\w{{2,6}}_){_BODY}{{20,}}",
        ),
        ("cloud_token", _START + r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}"),
        ("cloud_token", _START + r"ATATT3[\w=-]{20,}"),
        ("azure_key", r"(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{40,}={0,2}"),
        ("mailer_key", _START + r"[0-9a-f]{32}-us\d{1,2}(?!\d)"),
        ("mailer_key", _START + r"key-[0-9a-f]{32}(?![0-9a-f])"),
        ("bot_token", _START + r"\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
        ("bot_token", _START + r"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])"),
        ("json_web_token", _START + r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
        ("url_password", r"[a-z][a-z0-9+.-]{1,20}://[^\s:/@?#]{0,256}:[^\s:/@]{3,256}@[\w\[]"),
        ("basic_credentials", r"(?i)\bauthorization:\s{0,4}basic\s{1,4}[A-Za-z0-9+/]{8,}={0,2}"),
        ("bearer_token", r"(?i)\bbearer\s{1,4}[A-Za-z0-9._~+/-]{20,}"),
        # The general form that issuers agreed on: a name, what it is, a random body.
        (
            "prefixed_token",
            _START
            + r"[A-Za-z]{2,12}[_-](?:live|prod|test|secret|key|apikey|token|tok|pat)[_-]"
            + r"(?=[A-Za-z_-]{0,64}\d)[A-Za-z0-9_-]{16,}",
        ),
    )
)

PASSWORD_WORDS = re.compile(
    r"(?i)(?<![a-z0-9])(?:[a-z0-9]{1,24}[_-])?"
    r"(?:pass ?word|passwd|passphrase|pass ?code|pwd|pw|passwort|kennwort|contrase\u00f1a|senha)"
    r"(?![a-z0-9])"
)
# "pass" alone has many harmless uses; these are those of an account.
WEAK_PASSWORD_WORDS = re.compile(
    r"(?im)(?:\b(?:my|login|user|root|admin|wi-?fi|account|db|database|ssh|vpn|e-?mail) "
    r"|^|[,;:/&] ?)pass(?=\s*(?:[:=]|is\b))"
)
KEY_WORDS = re.compile(
    r"(?i)(?<![a-z0-9])(?:[a-z0-9]{1,24}[_-])?"
    r"(?:api[ _-]?(?:key|token|secret)|secret[ _-]?(?:access[ _-]?)?key|access[ _-]?(?:key|token)"
    r"|private[ _-]?key|auth(?:entication|orization)?[ _-]?(?:key|token)|refresh[ _-]?token"
    r"|client[ _-]?secret|(?:encryption|signing|master|license|recovery|deploy)[ _-]?key"
    r"|recovery[ _-]?code|credentials?)(?![a-z0-9])"
)
# Alone these words have many harmless uses; ids after them are not secrets.
WEAK_KEY_WORDS = re.compile(r"(?i)(?<![a-z0-9])(?:[a-z0-9]{1,24}[_-])?(?:secret|token)(?![a-z0-9])")

ASSIGNMENTS = frozenset({"=", ":", ":=", "=>", "->", "=="})
OPERATORS = ASSIGNMENTS | {"-", "\u2192", "is", "was", "are", "equals", "be", "to"}
FILLERS = word_set("now currently still always simply just the a this one my your our")
CHANGE_WORDS = word_set("changed reset set updated switched")
# After these words the sentence speaks about passwords, not of one.
POLICY_WORDS = word_set(
    """
    policy policies manager managers field fields length rotation expiry expiration strength
    requirement requirements rule rules protection prompt hint hints reuse generator resets
    """
)
# Plain words that commonly follow "password is" or stand in for a value.
BENIGN_VALUES = word_set(
    """
    absent bad blank case compromised confidential correct default different easy empty enough fine
    gone good hard here hidden in incorrect insecure invalid known long lost missing mandatory
    mine n/a needed never new no none not nothing null ok okay old on one optional out private
    public redacted right safe secret secure short simple strong stale the there too unique unknown
    unset unsafe valid weak wrong yours
    """
)

# Issuer ranges: first and last prefix, valid lengths.
CARD_RANGES: tuple[CardRange, ...] = (
    (4, 4, frozenset({13, 16, 19})),
    (51, 55, frozenset({16})),
    (2221, 2720, frozenset({16})),
    (34, 34, frozenset({15})),
    (37, 37, frozenset({15})),
    (6011, 6011, frozenset({16, 19})),
    (644, 659, frozenset({16, 19})),
    (3528, 3589, frozenset({16})),
    (300, 305, frozenset({14})),
    (36, 36, frozenset({14})),
    (38, 39, frozenset({14})),
    (62, 62, frozenset({16, 17, 18, 19})),
)
