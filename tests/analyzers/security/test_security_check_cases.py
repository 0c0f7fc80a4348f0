"""Further ways to write what the pairs show once, and further code that only looks like it."""

from __future__ import annotations

import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.python.views import Budget, OutOfSteps, View
from reviewbot.analyzers.security import check
from reviewbot.analyzers.security.code_index import CodeIndex
from reviewbot.analyzers.security.patterns import is_exponential
from reviewbot.analyzers.security.words import is_password, is_stand_in, words

TABLE = packaged_rules("security_checks")


def view_of(code: str, path: str = "src/app.py") -> View:
    text = textwrap.dedent(code).strip("\n") + "\n"
    return View(path, ast.parse(text), text, whole=True, added=frozenset(range(1, text.count("\n") + 1)))


def rules_of(code: str, path: str = "src/app.py") -> list[str]:
    return [found.rule for found in check(view_of(code, path), Budget())]


@pytest.mark.parametrize(
    ("code", "rules"),
    [
        # ciphers
        ("from cryptography.hazmat.primitives.ciphers import modes\nm = modes.ECB()", ["ecb-mode"]),
        ("from Cryptodome.Cipher import AES\nc = AES.new(k, AES.MODE_CBC, b'0' * AES.block_size)", ["static-iv"]),
        ("from Crypto.Cipher import AES\nc = AES.new(k, AES.MODE_CBC, iv=bytes(16))", ["static-iv"]),
        ("from Crypto.Cipher import AES\nc = AES.new(k, AES.MODE_CBC, iv=bytes([0, 1]))", ["static-iv"]),
        ("from Crypto.Cipher import AES\nc = AES.new(k, AES.MODE_CBC, bytes.fromhex('00' * 16))", ["static-iv"]),
        ("from Crypto.Cipher import AES\nc = AES.new(k, AES.MODE_CBC, (b'a' + b'b')[:16])", ["static-iv"]),
        ("from Crypto.Cipher import AES\nc = AES.new(k, AES.MODE_CBC, b'a' + salt)", []),
        ("from Crypto.Cipher import AES\nc = AES.new('key'.encode(), AES.MODE_GCM)", ["hard-coded-key"]),
        ("from Crypto.Cipher import ChaCha20\nc = ChaCha20.new(key=k, nonce=b'12345678')", ["static-iv"]),
        ("from cryptography.fernet import Fernet\nf = Fernet(b'abc')", ["hard-coded-key"]),
        ("from OpenSSL import crypto\nk = crypto.PKey()\nk.generate_key(crypto.TYPE_RSA, 1024)", ["short-key"]),
        ("from OpenSSL import crypto\nk = crypto.PKey()\nk.generate_key(crypto.TYPE_RSA, 4096)", []),
        (
            "from cryptography.hazmat.primitives.asymmetric import ec\nk = ec.generate_private_key(ec.SECP192R1())",
            ["short-key"],
        ),
        ("from cryptography.hazmat.primitives.asymmetric import ec\nnames = {'P-192': ec.SECP192R1()}", []),
        ("from cryptography.hazmat.primitives.asymmetric import ec\nc = ec.SECP256R1()", []),
        ("from Crypto.PublicKey import ECC\nc = ECC.generate(curve='P-192')", ["short-key"]),
        ("from Crypto.PublicKey import RSA\nbits = 1024\nk = RSA.generate(bits)", ["short-key"]),
        # passwords
        ("import bcrypt\ns = bcrypt.gensalt(rounds=4)", ["few-rounds"]),
        ("import bcrypt\ns = bcrypt.gensalt()", []),
        ("import hashlib\nh = hashlib.new('md5', f'{salt}{user.password}'.encode())", ["fast-password-hash"]),
        ("import hashlib\nh = hashlib.sha256(str(password))", ["fast-password-hash"]),
        ("import hashlib\nh = hashlib.sha256(b''.join([salt, password]))", ["fast-password-hash"]),
        ("import hashlib\nh = hashlib.sha256(seal(password))", []),
        ("import hashlib, bcrypt\nh = bcrypt.hashpw(hashlib.sha256(password).digest(), salt)", []),
        ("import hashlib\nd = hashlib.pbkdf2_hmac('sha1', p, **options)", []),
        ("thing.update(password)", []),
        # signatures
        ("import jwt\nt = jwt.decode(token, key, algorithms=['none'])", ["jwt-not-verified"]),
        ("import jwt\nt = jwt.decode(token, verify=False)", ["jwt-not-verified"]),
        ("import jwt\nt = jwt.encode(claims, key, algorithm='none')", ["jwt-not-verified"]),
        ("import jwt\nt = jwt.decode(token, key, algorithms=allowed, options={'verify_exp': True})", []),
        ("import hmac\nm = hmac.new(b'secret', body, 'sha256')", ["hard-coded-key"]),
        ("import hmac, base64\nm = hmac.new(k, body, 'sha256')\nok = sent != base64.b64encode(m.digest())",
         ["timing-comparison"]),
        ("signature = 'abc'\nok = sent_signature == signature", []),
        ("x = f(x)\nok = x.y(x) == other", []),
        ("import python_jwt as jwt\nh, c = jwt.process_jwt(token)", ["jwt-not-verified"]),
        ("import python_jwt as jwt\nh, c = jwt.process_jwt(token)\njwt.verify_jwt(token, key, ['RS256'])", []),
        # random values
        ("import random\nr.set_cookie('csrf_token', str(random.random()))", ["guessable-secret"]),
        ("import random\nuser.otp_code: str = str(random.randint(1, 9))", ["guessable-secret"]),
        ("import random\nmake(api_token=random.getrandbits(64))", ["guessable-secret"]),
        ("import random\ntoken = random.choice(tokens)", []),
        ("import random\ntokens[i] = random.choice(tokens)", []),
        ("import random\nsession = random.choice(sessions)", []),
        ("import random\nreset_password = random.choice(passwords)", []),
        ("import random\nmask_token = random.randint(0, 100)", []),
        ("import random\nnext_token = random.randint(0, 100)", []),
        ("import random\nrandom_token = random.randint(0, vocab_size)", []),
        ("import random\ntoken = random.randint(0, 100)", []),
        ("import random\ntokens[i] = random.randint(0, 9)", []),
        ("import random\ntoken = str(random.random())", ["guessable-secret"]),
        ("import random\ntoken = f'{random.random()}'", ["guessable-secret"]),
        ("import random\ntoken = random.getrandbits(128)", ["guessable-secret"]),
        ("import random\notp = random.randint(100000, 999999)", ["guessable-secret"]),
        ("import random\nsession_id = str(random.random())", ["guessable-secret"]),
        ("import random\nreset_token = ''.join(random.choice(a) for _ in b)", ["guessable-secret"]),
        ("import random\npassword = random.sample(range(10), 6)", ["guessable-secret"]),
        ("import random, string\ntoken = random.choice(string.hexdigits)", ["guessable-secret"]),
        ("import random\ndef reset(u):\n    u.token = random.randint(1, 9)", ["guessable-secret"]),
        ("import random\ndef mask_tokens(u):\n    u.token = random.randint(1, 9)", []),
        # broken hashes
        ("import hashlib\nh = hashlib.md5()\nf = open('passwordFile')\nf.write(h.digest())", ["weak-hash-of-secret"]),
        ("import hashlib\ndef f(x):\n    h = hashlib.new('sha1', x)\n    token = h.digest()", ["weak-hash-of-secret"]),
        ("import hashlib\ndef f(x):\n    h = hashlib.md5(x).hexdigest()\n    open(h + '.json').write(x)", []),
        ("import hashlib\ndef f(x):\n    h = hashlib.md5(x, usedforsecurity=False)\n    token = h.digest()", []),
        ("import hashlib\ndef f(x):\n    h = hashlib.sha256(x)\n    token = h.digest()", []),
        ("import hashlib\ndef f(x, passwords):\n    h = hashlib.md5(x)\n    passwords.update(h)\n    return h", []),
        ("from os import md5\ndef f(x):\n    h = md5(x)\n    token = h.digest()", []),
        ("import random\ntokens = random.sample(corpus, 5)", []),
        ("import random\ntoken = words[random.randint(0, 3)]", []),
        ("import random\nsession.run(random.random())", []),
        ("import random\nx = lambda: random.random()", []),
        # connections
        ("import urllib3\np = urllib3.PoolManager(cert_reqs='CERT_NONE')", ["tls-not-verified"]),
        ("from elasticsearch import Elasticsearch\ne = Elasticsearch(h, verify_certs=False)", ["tls-not-verified"]),
        ("from OpenSSL import SSL\nc.set_verify(SSL.VERIFY_NONE, f)", ["tls-not-verified"]),
        ("import ssl\nssl._create_default_https_context = ssl._create_unverified_context", ["tls-not-verified"]),
        ("import ssl\nc.verify_mode = ssl.CERT_NONE", ["tls-not-verified"]),
        ("session.verify = False", ["tls-not-verified"]),
        ("form.verify = False", []),
        ("import ssl\nc = ssl.SSLContext()\ns = c.wrap_socket(s, server_side=True)", []),
        ("import ssl\nc = ssl.SSLContext()\nc.verify_mode = ssl.CERT_REQUIRED\ns = c.wrap_socket(s)", []),
        ("s = c.wrap_socket(s)", []),
        ("x = 1", []),
        ("import boto3\nc = boto3.client('s3', verify=False)", ["tls-not-verified"]),
        ("import smtplib\ns = smtplib.SMTP('localhost')\ns.login(u, p)", []),
        ("import requests\nrequests.request('POST', 'http://a.example.com', auth=(u, p))", ["login-in-the-clear"]),
        ("import requests\nrequests.post('http://a.example.com', data=[1])", []),
        ("import ldap3\nc = ldap3.Connection(s, user=u, password='')", ["bind-without-password"]),
        ("import ldap3\nc = ldap3.Connection(s, user=u, authentication=ldap3.SASL)", []),
        ("import ldap3\nc = ldap3.Connection(s, **options)", []),
        ("import ldap\nc.simple_bind_s('', '')", []),
        ("import ldap\nc.simple_bind_s(who, None)", ["bind-without-password"]),
        # credentials
        ("import smtplib\ns = smtplib.SMTP_SSL(h)\ns.login('me', 'tr0ub4dor')", ["literal-password"]),
        ("db = pymysql.connect(user='root', password='')", ["empty-password"]),
        ("db = pymysql.connect(user='shop', password='')", []),
        ("e = create_engine('postgresql://shop:tr0ub4dor@db/shop')", ["literal-password"]),
        ("e = create_engine('postgresql://user:password@db/shop')", []),
        ("D = {'ENGINE': 'x.mysql', 'PASSWORD': 'tr0ub4dor'}", ["literal-password"]),
        ("D = {'ENGINE': 'x.mysql', 'PASSWORD': os.environ['P']}", []),
        ("password = 'a'\nok = password == 'b'", []),
        ("ok = 1 < password == 'b'", []),
        ("SECRET_KEY = '9f2c-blue-monkey'", ["literal-secret-key"]),
        ("a = b = c = 1", []),
        ("import boto3\nc = boto3.client('s3', api_key='wJalrXUtnFEMI0K7MDENGbPxR')", ["literal-api-key"]),
        ("c = OpenAI(api_key='your-key')", []),
        ("a = HTTPBasicAuth('shop', 'tr0ub4dor')", ["literal-password"]),
        ("get(url, auth=('shop',))", []),
        ("ok = 5 <= len(password) < 9", []),
        # leaks
        ("log.debug('x ' + password)", ["logged-password"]),
        ("logger.error('%s' % (password,))", ["logged-password"]),
        ("logger.error('{}'.format(user.password))", ["logged-password"]),
        ("logger.error('x', extra={'p': form['password']})", ["logged-password"]),
        ("logger.error(str(password))", ["logged-password"]),
        ("import logging\nx = logging.getLogger()\nx.info(password)", ["logged-password"]),
        ("logger.error(f'{password_file} {len(password)}')", []),
        ("password = '***'\nlogger.error(password)", []),
        ("show.error(password)", []),
        ("x = request.GET['password']", ["password-in-address"]),
        ("x = request.args['name']", []),
        ("import traceback\ndef f():\n    return HttpResponse(traceback.format_exc())", ["trace-in-answer"]),
        ("import traceback\ndef f():\n    return traceback.format_exc()", []),
        ("def f():\n    return", []),
        ("@app.route('/')\ndef f():\n    return str(error())", []),
        # web
        ("from flask_cors import CORS\nCORS(app, supports_credentials=True)", ["any-origin-with-credentials"]),
        ("from flask_cors import CORS\nCORS(app, supports_credentials=True, resources=r)", []),
        ("from flask_cors import CORS\nCORS(app, supports_credentials=True, origins=['https://a.example.com'])", []),
        ("if ok:\n    r['Access-Control-Allow-Origin'] = request.META['HTTP_ORIGIN']", ["any-origin"]),
        ("CORS_ALLOW_ALL_ORIGINS = True\nCORS_ALLOW_CREDENTIALS = True", ["any-origin-with-credentials"]),
        ("CORS_ORIGIN_ALLOW_ALL = True", ["any-origin"]),
        ("AUTH_PASSWORD_VALIDATORS = []", ["no-password-rules"]),
        ("from jinja2 import Environment\ne = Environment()", []),
        ("from jinja2 import Environment\nimport bottle\ne = Environment(autoescape=False)", ["templates-not-escaped"]),
        # addresses
        ("if 'example.com' in url.lower():\n    requests.get(url)", ["host-check"]),
        ("import requests\nif url.startswith('https://example.com'):\n    requests.get(url)", ["host-check"]),
        ("import re, requests\nif re.match('^https://www.example.com', url):\n    requests.get(url)", ["host-check"]),
        ("import re\np = re.compile(r'https://www\\.example\\.com/')", []),
        ("import re\np = re.compile(r'https://www.example.com/')", ["host-check-plain"]),
        ("ok = name.endswith('readme.txt') or url.startswith('https://')", []),
        ("if not (url.endswith('example.com') and ok):\n    run(url)", ["host-check-plain"]),
        # files
        ("import os\nos.system('chmod 777 /srv')", ["world-writable"]),
        ("import os\nos.system(f'chmod 777 {path}')", ["world-writable"]),
        ("import subprocess\nsubprocess.run(['sudo', 'chmod', '-R', '0777', p])", ["world-writable"]),
        ("import subprocess\nsubprocess.run(['chmod', '755', p])", []),
        ("import os, stat\nos.chmod(p, stat.S_IRUSR | stat.S_IWOTH)", ["world-writable"]),
        ("import os, stat\nos.chmod(p, mode & ~stat.S_IWOTH)", []),
        ("import os\nos.chmod(p, *rest)", []),
        ("import os, tempfile\nf = open(tempfile.mktemp(), 'w')", ["temporary-name-opened"]),
        ("import tempfile\nname = tempfile.mktemp()\nrun(name)", []),
        ("def f(up: UploadFile):\n    open(f'up/{up.filename}', 'wb')", ["upload-under-its-name"]),
        ("def f(up: UploadFile):\n    open(f'up/{up.filename}')", []),
        ("def f(up):\n    open('up/' + up.filename, 'wb')", []),
        ("x = request.files.get('f')\nname = x.filename\nx.save(join('up', name))", ["upload-under-its-name"]),
        ("x = request.files['f']\nx.save((1, 'a', str(x.size)))", []),
        ("import tarfile\nt = tarfile.open(p)\nfor m in t.getmembers():\n    t.extract(m)", ["archive-member"]),
        ("for m in t:\n    t.extract(m)", []),
        # documents
        ("import lxml.etree, io\nd = lxml.etree.parse(io.BytesIO(request.data))", ["document-from-request"]),
        ("import lxml.etree\nd = lxml.etree.fromstring(request.files['x'].read())", ["document-from-request"]),
        ("import lxml.etree\nasync def f(request):\n    return lxml.etree.fromstring(await request.body())",
         ["document-from-request"]),
        ("import lxml.etree\nd = lxml.etree.fromstring(text)", []),
        ("p.setFeature('http://xml.org/sax/features/external-general-entities', 1)", ["external-entities-feature"]),
        ("p.setFeature('x')", []),
        ("import re\nx = re.sub(r'<script[^>]*>.*?</script[^>]*>', '', t)", []),
        # privileges
        ("import os\ndef f():\n    os.seteuid(0)\n    work()\n    os.seteuid(1000)", ["privileges-kept"]),
        ("def f():\n    raise_privileges()\n    drop_privileges()", []),
        ("def f():\n    raise_error()\n    show_privileges()\n    x = 1", []),
        ("assert check_password(p)", ["right-asserted"]),
        # flow
        ("while not i >= len(items):\n    work()", []),
        ("items = [1]\nwhile len(items) > 0:\n    items.pop()", []),
        ("def f(n):\n    while n > 0:\n        g.x()", ["endless-loop"]),
        ("def f(n):\n    while n > 0:\n        sys.exit()", []),
        ("def f(n):\n    while n > 0:\n        n.step()", []),
        ("def f(n):\n    while g(n) > 0:\n        pass", []),
        ("def f(n):\n    while n:\n        pass", []),
        ("def f(n):\n    while 1 > 2:\n        pass", []),
        ("def f(n):\n    while n > 0:\n        try:\n            n2()\n        except E:\n            pass", []),
        ("def f(n):\n    while n > 0:\n        if n:\n            break", []),
        ("def f(n):\n    try:\n        while n > 0:\n            work()\n    except E:\n        pass", []),
        ("def f(n):\n    def g():\n        nonlocal n\n        n = 0\n    while n > 0:\n        g()", []),
        ("def f(a):\n    while 1 in a:\n        g(a)", []),
        ("import threading\ndef f():\n    lock = threading.Lock()\n    g(lock)\n    lock.acquire()", []),
        ("import threading\ndef f():\n    self.lock = threading.Lock()", []),
        ("def f():\n    lock.acquire()\n    x = 1\n    lock.release()", []),
        ("import string\nx = string.letters", ["removed-function"]),
        ("import time\ntry:\n    c = time.clock\nexcept AttributeError:\n    c = None", []),
        ("import time\ntry:\n    c = time.clock\nexcept (KeyError, OSError):\n    c = None", ["removed-function"]),
        ("import time\ntry:\n    c = time.clock\nexcept:\n    c = None", []),
    ],
)  # fmt: skip
def test_each_piece_of_code_has_its_answer(code: str, rules: list[str]) -> None:
    assert rules_of(code) == rules


def test_settings_that_no_user_meets_are_left_alone() -> None:
    assert rules_of("DEBUG = True", "shop/settings.py") == ["debug-setting-on"]
    assert rules_of("DEBUG = True", "shop/settings/local.py") == []
    assert rules_of("class TestingConfig:\n    DEBUG = True", "shop/settings.py") == []


@pytest.mark.parametrize(
    ("pattern", "slow"),
    [
        (r"(a+)+$", True),
        (r"(a*)*b", True),
        (r"(?:[a-z]+\d?)+!", True),
        (r"((ab)+)*c", True),
        (r"(.|\s)*x", True),
        (r"(\w|[^\W])*x", True),
        (r"(.+,)*x", True),
        (r"([^a]+a?)*$", True),
        (r"(?:(?:x+)y*){1,}z", True),
        (r"^(([a-z])+.)+[A-Z]([a-z])+$", True),
        (r"(?:a|(b+)+c)d", True),
        (r"(a+)+", False),
        (r"(a+b)+$", False),
        (r"(\d+\.)*\d+$", False),
        (r"(?:\s*\w+\s*,)*$", False),
        (r"(a|b)*c", False),
        (r"(ab|cd)*e", False),
        (r"(?:a+\b)*$", False),
        (r"(?:(x)+\1)*$", False),
        (r"(a{1,3}){1,5}$", False),
        (r"(\D+\d)*$", False),
        (r"(?:[^\n]+\n)*$", False),
        ("(", False),
        ("a" * 3000 + "+", False),
        ("plain", False),
    ],
)
def test_a_pattern_is_slow_where_one_text_can_be_shared_out_in_many_ways(pattern: str, slow: bool) -> None:  # noqa: FBT001 - a table
    assert is_exponential(pattern) is slow


def test_a_pattern_that_must_match_everything_is_slow_without_anything_behind() -> None:
    assert is_exponential(r"(a+)+", anchored=True)


@pytest.mark.parametrize(
    ("name", "said"),
    [("userPassWord", ["user", "password"]), ("HTTPServer2", ["http", "server", "2"]), ("user_pwd", ["user", "pwd"])],
)
def test_a_name_is_cut_into_its_words(name: str, said: list[str]) -> None:
    assert words(name) == said


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("password", True),
        ("db_pass", True),
        ("first_pass", False),
        ("password_hash", False),
        ("hashed_password", False),
        ("", False),
    ],
)
def test_a_password_is_told_from_what_belongs_to_one(name: str, secret: bool) -> None:  # noqa: FBT001 - a table
    assert is_password(name) is secret


@pytest.mark.parametrize("text", ["", "****", "None", "<password>", "${PASSWORD}"])
def test_a_stand_in_is_no_value(text: str) -> None:
    assert is_stand_in(text)


def test_names_are_followed_to_what_they_were_bound_to() -> None:
    code = """
    import a.b.c as d, e.f
    from .g import h
    x = y = 5
    z = x
    m: int = -3
    for i in z: pass
    with open(p) as (q, r), open(p): pass
    if (w := 7): pass
    match v:
        case {"k": n, **rest}: pass
        case [1, *others] | others: pass
    def f(*args, key=1, **kw): return lambda t, /: t
    class C: pass
    t: int
    """
    index = CodeIndex(view_of(code), Budget())
    called = {node.id: node for node in index.of(ast.Name) if isinstance(node.ctx, ast.Load)}

    assert index.number(called["z"]) == 5
    assert index.number(called["x"]) == 5
    assert index.name(ast.parse("d.x()").body[0].value.func) == "a.b.c.x"  # type: ignore[attr-defined]
    assert index.name(ast.parse("h").body[0].value) == ".g.h"  # type: ignore[attr-defined]
    assert index.name(None) == "?"
    assert index.imports("e")
    assert not index.imports("b")
    assert index.constant(ast.parse("-4").body[0].value) == -4  # type: ignore[attr-defined]
    assert index.constant(ast.parse("-x").body[0].value) is None  # type: ignore[attr-defined]


def test_a_name_that_is_made_from_itself_is_not_followed_for_ever() -> None:
    assert rules_of("from Crypto.Cipher import AES\niv = iv + iv\nc = AES.new(k, AES.MODE_CBC, iv)") == []
    assert rules_of("import hashlib\nh = hashlib.pbkdf2_hmac('x', p, salt, -rounds)\nrounds = -rounds") == []


def test_work_is_counted_and_stops() -> None:
    with pytest.raises(OutOfSteps):
        list(check(view_of("x = 1\n" * 50), Budget(20)))


@pytest.mark.slow
def test_work_grows_with_the_text_and_not_with_its_square() -> None:
    block = "def f{0}(n, password):\n    while n > 0:\n        n -= 1\n    return log.info(password + str(n))\n"
    list(check(view_of("".join(block.format(n) for n in range(2_000))), Budget(1_000_000)))


@pytest.mark.slow
@given(st.sampled_from(sorted(TABLE.rules)), st.text(max_size=40))
def test_no_pattern_and_no_text_breaks_a_check(rule: str, text: str) -> None:
    code = (
        f"import re, jwt, os\nre.compile({text!r})\nurl.endswith({text!r})\nos.system({text!r})\nx = {text!r} in url\n"
    )

    assert set(rules_of(code)) <= set(TABLE.rules), rule
