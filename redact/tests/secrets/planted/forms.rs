//! Planted secrets in notations that many programs share: headers, keys in blocks, URLs, assignments.

use super::Kind;

pub(crate) const KINDS: &[Kind] = &[
    ("jwt", "RFC 7519", "⟦eyJ{A:33}.eyJ{A:60}.{w:43}⟧"),
    (
        "jwt-unsigned",
        "RFC 7519, unsecured",
        "token eyJhbGciOiJub25lIn0.⟦eyJ{A:60}⟧. is accepted",
    ),
    (
        "pem-rsa",
        "RFC 7468",
        "⟦-----BEGIN RSA PRIVATE KEY-----\n{line:20}{b:30}==\n-----END RSA PRIVATE KEY-----⟧",
    ),
    (
        "pem-pkcs8",
        "RFC 7468",
        "⟦-----BEGIN PRIVATE KEY-----\n{line:20}-----END PRIVATE KEY-----⟧",
    ),
    (
        "pem-encrypted",
        "RFC 7468",
        "⟦-----BEGIN ENCRYPTED PRIVATE KEY-----\n{line:20}-----END ENCRYPTED PRIVATE KEY-----⟧",
    ),
    (
        "pem-ec",
        "RFC 5915",
        "⟦-----BEGIN EC PRIVATE KEY-----\n{line:3}{b:30}==\n-----END EC PRIVATE KEY-----⟧",
    ),
    (
        "pem-dsa",
        "RFC 7468",
        "⟦-----BEGIN DSA PRIVATE KEY-----\n{line:6}-----END DSA PRIVATE KEY-----⟧",
    ),
    (
        "ssh-openssh",
        "openssh PROTOCOL.key",
        "⟦-----BEGIN OPENSSH PRIVATE KEY-----\n{line:6}-----END OPENSSH PRIVATE KEY-----⟧",
    ),
    (
        "ssh2",
        "RFC 4716, ssh.com",
        "⟦---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{line:6}---- END SSH2 ENCRYPTED PRIVATE KEY ----⟧",
    ),
    (
        "putty",
        "putty PPK format",
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: x\nPublic-Lines: 2\n{line:2}⟦Private-Lines: 1\n{b:60}==\nPrivate-MAC: {h:64}⟧\n",
    ),
    (
        "pgp",
        "RFC 9580",
        "⟦-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{line:12}={b:4}\n-----END PGP PRIVATE KEY BLOCK-----⟧",
    ),
    (
        "pem-in-yaml",
        "RFC 7468, indented",
        "key: |\n    ⟦-----BEGIN RSA PRIVATE KEY-----\n    {b:64}\n    {b:64}\n    {b:20}==\n    -----END RSA PRIVATE KEY-----⟧\n",
    ),
    ("bearer", "RFC 6750", "Authorization: Bearer ⟦{w:40}⟧"),
    ("basic", "RFC 7617", "Authorization: Basic ⟦{b:26}==⟧"),
    (
        "digest-token",
        "RFC 7235",
        "> authorization: token ⟦{h:40}⟧\n> accept: */*",
    ),
    (
        "bearer-json",
        "RFC 6750",
        "{\"headers\": {\"Authorization\": \"Bearer ⟦{w:40}⟧\"}}",
    ),
    (
        "proxy-authorization",
        "RFC 9110",
        "Proxy-Authorization: Basic ⟦{b:26}==⟧",
    ),
    (
        "cookie",
        "RFC 6265",
        "Cookie: ⟦sessionid={a:32}; csrftoken={A:32}⟧",
    ),
    (
        "set-cookie",
        "RFC 6265",
        "Set-Cookie: SID=⟦{A:40}⟧; Path=/; HttpOnly",
    ),
    (
        "gitlab-cookie",
        "docs.gitlab.com, session cookie; gitleaks",
        "_gitlab_session=⟦{h:32}⟧",
    ),
    ("api-key-header", "OpenAPI 3, apiKey", "X-API-Key: ⟦{A:32}⟧"),
    (
        "auth-token-header",
        "docs.openstack.org, X-Auth-Token",
        "X-Auth-Token: ⟦gAAAAAB{w:120}⟧",
    ),
    (
        "curl-user",
        "curl.se, -u",
        "curl -u admin:⟦{p:14}⟧ https://example.com/",
    ),
    (
        "postgres-url",
        "postgresql.org/docs, connection URIs",
        "postgres://app:⟦{p:16}⟧@db.internal:5432/app",
    ),
    (
        "postgresql-url",
        "postgresql.org/docs, connection URIs",
        "postgresql://app:⟦{A:16}⟧@localhost/app?sslmode=require",
    ),
    (
        "mysql-url",
        "dev.mysql.com, URI-like strings",
        "mysql://root:⟦{p:12}⟧@10.0.0.2/shop",
    ),
    (
        "mongodb-url",
        "mongodb.com/docs, connection strings",
        "mongodb+srv://svc:⟦{A:20}⟧@c0.ab1cd.mongodb.net/?retryWrites=true",
    ),
    (
        "redis-url",
        "redis.io, URIs",
        "redis://:⟦{A:24}⟧@cache:6379/0",
    ),
    (
        "amqp-url",
        "rabbitmq.com, URI",
        "amqps://svc:⟦{A:24}⟧@mq.internal/vhost",
    ),
    (
        "https-url",
        "RFC 3986, userinfo",
        "git clone https://deploy:⟦{A:24}⟧@git.example.com/x.git",
    ),
    (
        "sqlalchemy-url",
        "docs.sqlalchemy.org, database URLs",
        "postgresql+psycopg2://app:⟦{A:16}⟧@db/app",
    ),
    (
        "ftp-url",
        "RFC 1738",
        "ftp://files:⟦{A:10}⟧@ftp.example.com/in",
    ),
    (
        "smtp-url",
        "RFC 3986",
        "smtps://mailer:⟦{A:18}⟧@smtp.example.com:465",
    ),
    (
        "ado-connection",
        "learn.microsoft.com, SqlConnection",
        "Server=db;Database=shop;User Id=sa;Password=⟦{p:14}⟧;Encrypt=true",
    ),
    (
        "libpq-keywords",
        "postgresql.org/docs, keyword/value strings",
        "host=db port=5432 user=app password=⟦{A:14}⟧ dbname=app",
    ),
    (
        "jdbc-url",
        "postgresql.org JDBC",
        "jdbc:postgresql://db/app?user=app&password=⟦{A:14}⟧",
    ),
    (
        "pgpass",
        "postgresql.org/docs, .pgpass",
        "PGPASSWORD=⟦{A:14}⟧ psql -h db",
    ),
    (
        "netrc",
        "gnu.org inetutils, .netrc",
        "machine api.example.com login me password ⟦{A:18}⟧",
    ),
    ("env-token", "12factor.net", "MY_SERVICE_TOKEN=⟦{A:30}⟧"),
    ("env-secret", "12factor.net", "SESSION_SECRET='⟦{p:30}⟧'"),
    ("env-password", "12factor.net", "DB_PASSWORD=⟦{p:14}⟧"),
    (
        "env-passphrase",
        "12factor.net",
        "export GPG_PASSPHRASE=\"⟦{A:20}⟧\"",
    ),
    (
        "json-password",
        "RFC 8259",
        "{\"user\": \"x\", \"password\": \"⟦{p:14}⟧\"}",
    ),
    ("json-api-key", "RFC 8259", "{\"apiKey\":\"⟦{A:32}⟧\"}"),
    (
        "json-client-secret",
        "RFC 6749",
        "{\"client_id\": \"web\", \"client_secret\": \"⟦{w:32}⟧\"}",
    ),
    (
        "json-tokens",
        "RFC 6749",
        "{\"refresh_token\":\"⟦{w:64}⟧\",\"expires_in\":3600}",
    ),
    (
        "json-escaped",
        "RFC 8259, JSON in JSON",
        "{\"body\": \"{\\\"access_token\\\": \\\"⟦{A:40}⟧\\\"}\"}",
    ),
    (
        "yaml-password",
        "yaml.org",
        "database:\n  password: ⟦{p:16}⟧\n  pool: 5",
    ),
    ("toml-token", "toml.io", "[registry]\ntoken = \"⟦{A:32}⟧\""),
    (
        "python-assignment",
        "docs.python.org",
        "SECRET_KEY = '⟦{p:50}⟧'",
    ),
    (
        "javascript-object",
        "tc39.es",
        "const client = new Client({ apiKey: '⟦{A:32}⟧' })",
    ),
    (
        "url-query-token",
        "RFC 6750, URI query parameter",
        "https://api.example.com/v1/items?access_token=⟦{A:40}⟧&page=2",
    ),
    (
        "form-grant",
        "RFC 6749",
        "grant_type=password&username=a&password=⟦{A:14}⟧",
    ),
    (
        "cli-flag",
        "posix, options",
        "mytool --token ⟦{A:32}⟧ --verbose",
    ),
    (
        "cli-flag-equals",
        "posix, options",
        "mytool --password=⟦{p:16}⟧ run",
    ),
    (
        "maven-settings",
        "maven.apache.org, settings.xml",
        "<server><username>x</username><password>⟦{p:16}⟧</password></server>",
    ),
    (
        "nuget-config",
        "learn.microsoft.com/nuget; gitleaks nuget-config-password",
        "<add key=\"ClearTextPassword\" value=\"⟦{A:33}⟧\" />",
    ),
    (
        "docker-config",
        "docs.docker.com, config.json",
        "{\"auths\": {\"https://index.docker.io/v1/\": {\"auth\": \"⟦{b:38}==⟧\"}}}",
    ),
    (
        "htpasswd",
        "httpd.apache.org, password formats",
        "admin:⟦$apr1${A:8}${A:22}⟧",
    ),
    ("bcrypt", "openbsd bcrypt", "⟦$2b$12${A:53}⟧"),
    ("unix-crypt", "man 5 crypt", "⟦$6${A:16}${A:86}⟧"),
    (
        "wireguard",
        "wireguard.com, wg(8)",
        "[Interface]\nPrivateKey = ⟦{b:43}=⟧",
    ),
    (
        "jwk-private",
        "RFC 7517",
        "{\"kty\":\"EC\",\"crv\":\"P-256\",\"d\":\"⟦{w:43}⟧\",\"x\":\"{w:43}\"}",
    ),
    (
        "otpauth",
        "github.com/google/google-authenticator, key URI",
        "otpauth://totp/x:me?secret=⟦{32:32}⟧&issuer=x",
    ),
    (
        "fernet-env",
        "cryptography.io, Fernet",
        "FERNET_KEY=⟦{w:43}=⟧",
    ),
    (
        "rails-master-key",
        "guides.rubyonrails.org, RAILS_MASTER_KEY",
        "RAILS_MASTER_KEY=⟦{h:32}⟧",
    ),
    (
        "said-in-prose",
        "what people tell an agent",
        "The password is ⟦{p:14}⟧, please log in.",
    ),
    (
        "said-in-prose-colon",
        "what people tell an agent",
        "API key: ⟦{A:32}⟧",
    ),
];
