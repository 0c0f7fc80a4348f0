"""Which paths are those of test code, of examples, of programs that people start, and of translations."""

from __future__ import annotations

import pytest

from reviewbot.diff.paths import is_example, is_run_by_hand, is_test, is_translation, place_of

TESTS = [
    "Shop.Tests/Cart.cs", "app/src/androidTest/Cart.kt", "crates/integration-tests/src/cart.rs", "tests/a.php",
    "tests/a.py", "a/test/b.go", "src/__tests__/x.ts", "test_a.py", "a/b_test.go", "x.spec.ts", "conftest.py",
    "spec/models/a_spec.rb", "src/FooTest.java", "Testing/x.c", "a/fixtures/key.pem", "src/chain/tests.rs",
    "cmd/operator/e2e/ssh.go", "app/internal/http/test.key", "keys/test-cert.pem",
]  # fmt: skip
OTHERS = [
    "src/latest/cart.go", "src/contest/Cart.java", "Shop.Testing.Cart.cs", "src/contest.py", "latest.py",
    "attestation/a.py", "src/testimony.py", "inspect.rb", "src/attests.rs",
]  # fmt: skip


@pytest.mark.parametrize("path", TESTS)
def test_a_path_of_test_code_is_known_in_the_form_of_each_language(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize("path", OTHERS)
def test_a_path_that_only_sounds_like_a_test_is_none(path: str) -> None:
    assert not is_test(path)


@pytest.mark.parametrize("path", ["examples/a.py", "docs/x/y.py", "a/Samples/b.py"])
def test_a_path_of_code_that_is_there_to_be_read_is_known(path: str) -> None:
    assert is_example(path)
    assert not is_example(path.replace("/", "_"))


@pytest.mark.parametrize(
    ("path", "by_hand"),
    [
        ("scripts/a.py", True),
        ("app/cli.py", True),
        ("manage.py", True),
        ("a/__main__.py", True),
        ("src/client.py", False),
    ],
)
def test_a_path_of_a_program_for_people_is_known(path: str, *, by_hand: bool) -> None:
    assert is_run_by_hand(path) is by_hand


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("src/cart.go", "product"),
        ("public/scripts/menu.js", "product"),
        ("src/tools/images.py", "product"),
        (".github/workflows/build.yml", "product"),
        ("app/src/main/java/dev/shop/Cart.java", "product"),
        ("scripts/release.js", "tooling"),
        ("packages/core/scripts/build.js", "tooling"),
        ("server/scripts/setup.py", "tooling"),
        ("hack/verify.go", "tooling"),
        (".docker/ssh_key", "tooling"),
        ("fuzz/corpus/decode/1256f0", "tooling"),
        ("crates/core/benchmarks/read.rs", "tooling"),
        ("docs/conf.py", "examples"),
        ("sample_conf/ssl.key", "examples"),
        ("user_guide_src/source/038.php", "examples"),
        ("packages/site/modules/doc/index.js", "product"),
        ("internal/acceptance/browser/wait.ts", "tests"),
        ("ruby/test_app/lib/literal.rb", "tests"),
        ("testcases/main/Record.cs", "tests"),
        ("packages/keys-test-fixtures/certs/alice_id_rsa", "tests"),
        ("_fixture/certs/key.pem", "tests"),
        ("t/unit/security/__init__.py", "tests"),
        ("src/t/unit.py", "product"),
        ("shop/shop-module-demo/src/base.js", "examples"),
        (".travis.yml", "product"),
        ("packages/keys/.travis.yml", "tooling"),
        ("scripts/tests/run.py", "tests"),
    ],
)
def test_a_path_tells_what_its_code_is_for(path: str, place: str) -> None:
    assert place_of(path) == place


@pytest.mark.parametrize(
    ("path", "texts"),
    [
        ("app/src/main/res/values-ar/strings.xml", True),
        ("app/src/main/res/values-pt-rBR/strings.xml", True),
        ("ios/ar.lproj/Localizable.strings", True),
        ("web/locales/he/common.json", True),
        ("src/i18n/fa.yaml", True),
        ("po/ar.po", True),
        ("fastlane/metadata/android/ar/full_description.txt", True),
        ("Resources/Texts.ar.resx", True),
        ("app/src/main/res/values/strings.xml", False),
        ("config/values.yaml", False),
        ("src/i18n/index.ts", False),
        ("pom.xml", False),
    ],
)
def test_a_path_of_texts_in_a_language_is_known(path: str, *, texts: bool) -> None:
    assert is_translation(path) is texts
