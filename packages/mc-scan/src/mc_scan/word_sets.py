"""The fixed word lists of the rules: stop words, shared accounts, role mailboxes, file suffixes.

Source: rules page, 2.1, 3.7 and 4.
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A value made of these alone stands for a secret instead of being one.
STOP_WORDS: Final = _words(
    """
    my your the test fake dummy sample example secret password pass token key api auth access client
    user admin root guest value here goes insert paste put replace with change me it this not a real
    placeholder todo tbd none null nil undefined redacted hidden masked removed foo bar baz abc
    default string changeit

    pw pwd passwd username apikey passphrase credential credentials yes no true false
    """
)

# Last words of an environment variable that holds a credential.
ENV_WORDS: Final = _words(
    "PASSWORD PASSWD PASS PWD PGPASSWORD SECRET TOKEN CREDENTIALS PASSPHRASE KEY"
)

# Home folders that belong to nobody, compared without `-`, `_` and `.`.
SHARED_NAMES: Final = _words(
    """
    shared public default allusers user username you yourname name youruser yourusername myuser
    myusername someone someuser currentuser runner runneradmin vscode codespace codespaces gitpod
    node ubuntu debian ec2user git jovyan linuxbrew circleci jenkins vagrant docker app root
    """
)

# Local parts of addresses that belong to a role or stand for one.
ROLE_LOCALS: Final = _words(
    """
    noreply no-reply no_reply donotreply do-not-reply support info help contact sales security abuse
    admin postmaster webmaster hello team git user username you your.name yourname your-name
    your_name name email test foo
    """
)

# Only endings that are no top-level domain, or hardly ever one of a person's address.
FILE_SUFFIXES: Final = _words(
    """
    png jpg jpeg gif svg webp ico bmp avif heic pdf txt js jsx ts tsx mjs cjs css scss less html htm
    xml json yml yaml toml lock ini cfg conf csv log go java kt php vue map gz tgz tar bz2 whl exe
    dll deb rpm dmg jar bin img iso md rb py sh service timer socket target mount slice path swap
    device automount
    """
)
