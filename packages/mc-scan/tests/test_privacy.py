from __future__ import annotations

import pytest
from mc_scan import scan_machine_paths, scan_text


def found(text: str) -> list[tuple[str, str]]:
    return [(f.rule, f.severity) for f in scan_text(text, only="privacy")]


HOME_PATHS = [
    *("/Users/ana/x", "see /home/ana.", "`/home/moril`", "(/Users/moril/a b/)", "cwd=/home/moril"),
    *("path:/Users/moril/x", "a,/home/moril/x", "|/home/moril/x|", "路径/home/moril/x"),
    *("</Users/moril/x>", '"/Users/moril/x"', "'/home/moril'", "/Users/张三/x"),
    *("C:\\Users\\moril", "c:\\users\\moril\\x", "D:/Users/Ana/x", "C:\\\\Users\\\\moril\\\\x"),
    *("\\\\?\\C:\\Users\\moril\\x", "C:\\Users\\Ana Moril\\x", "/c/Users/moril/x"),
    *("/mnt/c/Users/moril/x", "file:///home/moril/x", "file:///C:/Users/moril/x"),
    *("file:///Users/moril", "vscode-remote://ssh-remote+box/home/moril/x"),
    *("%2FUsers%2Fmoril%2Fx", "x?p=%2Fhome%2Fmoril", "~moril/x", "cd ~moril/src"),
    *("~/.claude/projects/-Users-moril-x/", "~/.claude/projects/-home-moril-x"),
    *("/Volumes/Backup/x", "/Users/moril"),
]


@pytest.mark.parametrize("text", HOME_PATHS)
def test_path_that_names_a_person_is_a_warning(text: str) -> None:
    assert found(text) == [("home-path", "warning")]
    assert not any("moril" in f.preview or "ana" in f.preview for f in scan_text(text))


NO_HOME_PATHS = [
    *("/home", "/home/", "/Users/", "/Users", "/Users/Shared/x", "/Users/Public", "/homepage/x"),
    *("C:\\Users\\Default\\x", "C:\\Users\\All Users\\x", "C:\\Users\\Public\\x"),
    *("/Users/<name>/x", "/home/$USER", "/Users/{user}/x", "C:\\Users\\%USERNAME%\\x"),
    *("/home/.../x", "/home/…/x", "/home/user", "/home/username/x", "/Users/you"),
    *("/home/your-name/x", "/Users/name/x", "/home/runner/work", "/home/runneradmin"),
    *("/home/vscode", "/home/codespace/x", "/home/gitpod", "/home/node/app", "/home/ubuntu"),
    *("/home/debian", "/home/ec2-user/x", "/home/git/x", "/home/jovyan", "/home/circleci"),
    *("/home/linuxbrew/.linuxbrew", "/home/jenkins", "/home/vagrant", "/home/docker"),
    *("/home/app", "/home/root", "https://h/home/x", "https://h.dev/Users/moril", "src/home/x"),
    *("../Users/x", "GET /users/42", "GET /Users/abc", "HEAD~3/x", "~50/day", "~/x", "$HOME/x"),
    *("./home/x", "/api/Users/moril", "{base}/home/x", "/home/*/x", "/home/xxx/y"),
    *("~~gone/away~~", "/Users/7/x", "projects/-Users-"),
]


@pytest.mark.parametrize("text", NO_HOME_PATHS)
def test_shared_or_placeholder_path_is_nothing(text: str) -> None:
    assert found(text) == []


EMAILS = [
    *(
        "ana.moril@gmail.com",
        "mailto:ana.moril@gmail.com",
        "<ana@harrow.dev>",
        "ana+x@harrow.co.uk",
    ),
    *("Ana@Harrow.DEV.", "邮箱ana@qq.com。", "a_b%c@harrow.dev", "ana@harrow.dev: hello"),
    *("| ana@harrow.museum |", "**ana@harrow.dev**", "[ana](mailto:ana@harrow.dev)"),
]


@pytest.mark.parametrize("text", EMAILS)
def test_address_of_a_person_is_a_warning(text: str) -> None:
    assert found(text) == [("email", "warning")]


NO_EMAILS = [
    *("x@example.com", "x@sub.example.org", "x@foo.example", "x@foo.test", "x@foo.invalid"),
    *("x@a.localhost", "1+ana@users.noreply.github.com", "x@p.iam.gserviceaccount.com"),
    *("noreply@harrow.dev", "no-reply@harrow.dev", "info@harrow.dev", "hello@harrow.dev"),
    *("git@harrow.dev", "user@harrow.dev", "your.name@harrow.dev", "test@harrow.dev"),
    *("support+1@harrow.dev", "ana@yourcompany.com", "x@y.com", "git@github.com:o/r.git"),
    *("deploy@harrow.dev:/srv/x", "deploy@harrow.dev:~/x", "https://ana@harrow.dev/x"),
    *("logo@2x.png", "pkg@1.2.3", "pkg@latest", "@scope/pkg@2.0.0", "actions/checkout@v4"),
    *("ana@localhost", "a@b", "foo@bar.js", "@app.route", "@ana@mastodon.social"),
    *("xxxx@harrow.dev", "getty@tty1.service", f"{'a' * 65}@harrow.dev", "@", "@@", "a@.b"),
]


@pytest.mark.parametrize("text", NO_EMAILS)
def test_role_package_or_remote_is_no_address(text: str) -> None:
    assert found(text) == []


PHONES = [
    *("+1 (312) 234-5678", "+1 312 234 5678", "+13122345678", "+49 30 9018 2270"),
    *("+44 7911 123456", "+86 13912345698", "(312) 234-5678", "139-1234-5698", "+61 412 345 678"),
    *("tel: 312-234-5678", "Phone 312.234.5678", "手机 13912345698", "座机 010-62345678"),
    *("电话：021-62345678", "tel 020 7946 0958", "call 01 42 68 53 00", "tel:+33142685300"),
    *("mobile: 0171 2345678", "WhatsApp +5511987654321", "phone: (020) 7946 0958"),
]


@pytest.mark.parametrize("text", PHONES)
def test_telephone_number_is_a_warning(text: str) -> None:
    assert found(text) == [("phone", "warning")]
    assert [f.preview for f in scan_text(text)] == ["[REDACTED phone]"]


NO_PHONES = [
    *("+4096 -1024", "+12345 -678", "+23498765 -123", "2026-05-01", "1.2.3.4", "192.168.1.100"),
    *("10.0.0.1:8080", "978-0-306-40615-7", "ISBN 9780306406157", "10.1000/xyz", "1712345678"),
    *("1712345678901", "550e8400-e29b-41d4-a716-446655440000", "order 114-1234567-1234567"),
    *("52.5200, 13.4050", "+1 212 555 0187", "+1 (555) 234-5678", "(911) 234-5678"),
    *("(212) 011-2345", "(112) 234-5678", "phone: 111-111-1111", "+44 7700 900123"),
    *("+11111111111", "+1234567890", "312-234-5678", "13912345678", "call 555-0123"),
    *("#1234567890", "$1,234,567,890", "+0012345678", "+49", "a+49301234567"),
    *("2026-05-01T10:00:00+02:00", "3.14159265358979", "0x1234567890", "call 2026-05-01"),
    *("phone: 1234567890", "call f(0123456789ab)", "mobile 0.123456789", "+1 312 234 567"),
    *(
        "+12345678900",
        "+49 1234 5678 90",
        "139-1234-56789",
        "1-139-1234-5678",
        "139-1234-5678-9",
        "139-1234-5678a",
    ),
]


@pytest.mark.parametrize("text", NO_PHONES)
def test_other_number_is_no_telephone(text: str) -> None:
    assert found(text) == []


def test_phone_word_counts_on_its_own_line_only() -> None:
    assert found("phone\n312-234-5678") == []
    assert found("x\n312-234-5678 (phone)\ny") == [("phone", "warning")]


ADDRESSES = [
    "742 Evergreen Terrace, Springfield, OR 97403",
    "12 Oak St Apt 4B",
    "12 Oak Street, Unit 7",
    "221B Baker Street, London NW1 6XE",
    "1600 Amphitheatre Parkway, Mountain View, CA 94043",
    "12 Oak Street\nSalem, OR 97301",
    "Lindenstraße 12, 10969 Berlin",
    "Lange Straße 5a, 12345 Köln",
    "上海市浦东新区世纪大道100号",
    "北京市海淀区中关村南大街5号",
]


@pytest.mark.parametrize("text", ADDRESSES)
def test_street_address_is_a_warning(text: str) -> None:
    assert found(text) == [("street-address", "warning")]
    assert [f.preview for f in scan_text(text)] == ["[REDACTED address]"]


@pytest.mark.parametrize(
    "text",
    [
        *("123 Main Street", "3 Red Road signs", "5 Long Way to go", "12 Oak Street and more"),
        *("7 Drive letters", "10 Downing Street", "1 Way", "Straße 5", "中山路5号", "第3号"),
        *("2 First Place, and 3 Second Place", "北京市中山路5号", "$12 Oak Street, Unit 7"),
    ],
)
def test_street_without_a_second_part_is_nothing(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "column", "preview"),
    [
        ("a /Users/runner/x", 3, "/Users/[REDACTED]"),
        ("a/home/x", 2, "/home/[REDACTED]"),
        ("/Volumes/", 1, "/Volumes/[REDACTED]"),
        ("open C:\\x", 6, "X:\\[REDACTED]"),
        ("D:/x", 1, "X:/[REDACTED]"),
    ],
)
def test_machine_path_has_no_exceptions(text: str, column: int, preview: str) -> None:
    (finding,) = scan_machine_paths(f"x\n{text}")

    assert ("warning", 2, column, preview, "preferences.md") == (
        finding.severity,
        finding.line,
        finding.column,
        finding.preview,
        finding.path,
    )


def test_url_is_no_machine_path() -> None:
    assert scan_machine_paths("https://harrow.dev/x and ~/x and relative/home") == []
