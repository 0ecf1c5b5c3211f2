//! Rules for clouds, hosting, networks, hosted databases and vaults. Sources: each vendor's page on keys and their
//! prefixes; the MIT-licensed set of Gitleaks 8.30 if a vendor publishes no length.

use crate::rule::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::token(
        "aws-key-id",
        "AWS: ids of access keys",
        &["AKIA", "ASIA", "ABIA", "ACCA", "A3T"],
        r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}",
        ["AKIA{32:16}", "aws_access_key_id = ⟦ASIA{32:16}⟧"],
        ["AKIAIOSFODNN7EXAMPLE", "ASIA{32:8}"],
    )
    .word(),
    Rule::token(
        "aws-bedrock-key",
        "AWS Bedrock: API keys",
        &["ABSK", "bedrock-api-key-"],
        r"(?:ABSK[A-Za-z0-9+/]{90,}={0,2}|bedrock-api-key-[A-Za-z0-9+/=_-]{40,})",
        ["ABSK{b:128}", "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{b:60}"],
        ["ABSK{b:20}", "bedrock-api-key-rotation"],
    )
    .begin(),
    Rule::place(
        "aws-signature",
        "AWS: signatures in presigned URLs",
        &["X-Amz-Signature=", "X-Amz-Security-Token="],
        r"(?i)X-Amz-(?:Signature|Security-Token)=([A-Za-z0-9%+/=_-]{32,})",
        ["https://b.s3.amazonaws.com/k?X-Amz-Signature=⟦{h:64}⟧", "&X-Amz-Security-Token=⟦{A:120}⟧"],
        ["X-Amz-Signature=…", "X-Amz-Signature=abc"],
    ),
    Rule::token(
        "google-api-key",
        "Google: API keys",
        &["AIza"],
        r"AIza[\w-]{35}",
        ["AIza{w:35}", "?key=⟦AIza{w:35}⟧&x=1"],
        ["AIza{w:12}", "AIzaxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"],
    ),
    Rule::token(
        "google-oauth",
        "Google: OAuth access and refresh tokens, client secrets",
        &["ya29.", "1//0", "GOCSPX-"],
        r"(?:ya29\.[\w-]{40,}|1//0[\w-]{40,}|GOCSPX-[\w-]{24,})",
        ["ya29.{w:140}", "GOCSPX-{w:28}"],
        ["ya29.short", "1//0.5"],
    )
    .begin(),
    Rule::token(
        "firebase-key",
        "Firebase: old server keys",
        &["AAAA"],
        r"AAAA[\w-]{7}:[\w-]{140}",
        ["AAAA{w:7}:{w:140}", "key=⟦AAAA{w:7}:{w:140}⟧"],
        ["AAAA{w:7}", "AAAA: four letters"],
    )
    .word(),
    Rule::token(
        "azure-client-secret",
        "Microsoft Entra: client secrets",
        &["Q~"],
        r"[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,}",
        ["{A:3}8Q~{A:34}", "secret ⟦{A:3}7Q~{A:34}⟧"],
        ["8Q~{A:8}", "Q~ is rare"],
    )
    .back(&[4]),
    Rule::place(
        "azure-signature",
        "Azure: shared access signatures (SAS)",
        &["sig="],
        r"sig=([A-Za-z0-9%+/]{40,}={0,2})",
        ["?sv=2024-01-01&sp=r&sig=⟦{A:43}%3D⟧", "sig=⟦{b:43}=⟧&se=1"],
        ["sig=abc", "config={A:50}"],
    )
    .begin(),
    Rule::token(
        "azure-devops-token",
        "Azure DevOps: personal access tokens",
        &["AZDO"],
        r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}",
        ["{A:76}AZDO{A:4}", "PAT ⟦{A:76}AZDO{A:4}⟧"],
        ["AZDO", "{A:10}AZDO{A:4}"],
    )
    .back(&[76]),
    Rule::token(
        "alibaba-key-id",
        "Alibaba Cloud: access key ids",
        &["LTAI"],
        r"LTAI[A-Za-z0-9]{17,30}",
        ["LTAI{A:20}", "id=LTAI{A:20}"],
        ["LTAI{A:4}", "{A:9}LTAI{A:20}"],
    )
    .word(),
    Rule::token(
        "tencent-key-id",
        "Tencent Cloud: secret ids",
        &["AKID"],
        r"AKID[A-Za-z0-9]{32,}",
        ["AKID{A:32}", "SecretId: ⟦AKID{A:32}⟧"],
        ["AKID{A:8}", "{A:9}AKID{A:32}"],
    )
    .word(),
    Rule::token(
        "yandex-key",
        "Yandex Cloud: API keys",
        &["AQVN"],
        r"AQVN[\w-]{35,38}",
        ["AQVN{w:36}", "Api-Key ⟦AQVN{w:36}⟧"],
        ["AQVN{w:8}", "{A:9}AQVN{w:36}"],
    )
    .begin(),
    Rule::token(
        "digitalocean-token",
        "DigitalOcean: personal, OAuth and refresh tokens",
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        r"do[opr]_v1_[0-9a-f]{64}",
        ["dop_v1_{h:64}", "dor_v1_{h:64}"],
        ["dop_v1_", "dop_v1_{h:12}"],
    ),
    Rule::token(
        "heroku-token",
        "Heroku: API keys",
        &["HRKU-"],
        r"HRKU-[\w-]{50,}",
        ["HRKU-AA{w:58}", "\"HRKU-AA{w:58}\""],
        ["HRKU-AA", "HRKU-{w:10}"],
    ),
    Rule::token(
        "fly-token",
        "Fly.io: access tokens",
        &["fo1_", "fm1a_", "fm1r_", "fm2_"],
        r"(?:fo1_[\w-]{43}|fm1[ar]_[A-Za-z0-9+/]{80,}={0,3}|fm2_[A-Za-z0-9+/]{80,}={0,3})",
        ["fo1_{w:43}", "FlyV1 ⟦fm2_{b:160}==⟧"],
        ["fo1_{w:6}", "fm2_name"],
    ),
    Rule::token(
        "cloudflare-origin-key",
        "Cloudflare: Origin CA keys",
        &["v1.0-"],
        r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}",
        ["v1.0-{h:24}-{h:146}", "X: v1.0-{h:24}-{h:146}"],
        ["v1.0-beta", "v1.0-{h:24}-{h:10}"],
    ),
    Rule::token(
        "netlify-token",
        "Netlify: access tokens",
        &["nfp_", "nfc_", "nfo_", "nfu_"],
        r"nf[pcou]_[A-Za-z0-9_]{36,}",
        ["nfp_{A:36}", "nfc_{A:36}"],
        ["nfp_{A:6}", "nfp_site"],
    )
    .begin(),
    Rule::token(
        "render-key",
        "Render: API keys",
        &["rnd_"],
        r"rnd_[A-Za-z0-9]{28,}",
        ["rnd_{A:32}", "Bearer rnd_{A:32}"],
        ["rnd_{A:6}", "rnd_seed"],
    )
    .begin(),
    Rule::token(
        "supabase-key",
        "Supabase: access tokens and secret keys",
        &["sbp_", "sb_secret_"],
        r"(?:sbp_(?:v[0-9]_|oauth_)?[0-9a-f]{40}|sb_secret_[\w-]{24,})",
        ["sbp_{h:40}", "sb_secret_{w:31}"],
        ["sbp_{h:6}", "sb_secret_name"],
    ),
    Rule::token(
        "planetscale-token",
        "PlanetScale: passwords, service and OAuth tokens",
        &["pscale_pw_", "pscale_tkn_", "pscale_oauth_"],
        r"pscale_(?:pw|tkn|oauth)_[\w=.-]{32,}",
        ["pscale_pw_{w:43}", "pscale_tkn_{w:43}"],
        ["pscale_pw_", "pscale_tkn_{w:6}"],
    ),
    Rule::token(
        "neon-key",
        "Neon: API keys",
        &["napi_"],
        r"napi_[a-z0-9]{60,}",
        ["napi_{a:64}", "Bearer napi_{a:64}"],
        ["napi_build", "napi_{a:12}"],
    ),
    Rule::token(
        "databricks-token",
        "Databricks: personal access tokens",
        &["dapi"],
        r"dapi[0-9a-f]{32}(?:-[0-9])?",
        ["dapi{h:32}", "dapi{h:32}-2"],
        ["dapi{h:8}", "dapile"],
    )
    .word(),
    Rule::token(
        "clickhouse-key",
        "ClickHouse Cloud: secrets of API keys",
        &["4b1d"],
        r"4b1d[A-Za-z0-9]{38}",
        ["4b1d{A:38}", "secret: ⟦4b1d{A:38}⟧"],
        ["4b1d{A:6}", "{h:8}4b1d{h:28}"],
    )
    .word()
    .check(not_hex),
    Rule::token(
        "vault-token",
        "HashiCorp Vault: service, batch and recovery tokens",
        &["hvs.", "hvb.", "hvr."],
        r"hv[sbr]\.[\w-]{24,}",
        ["hvs.{w:95}", "X-Vault-Token: ⟦hvb.{w:140}⟧"],
        ["hvs.x", "hvs.token"],
    )
    .begin(),
    Rule::token(
        "onepassword-token",
        "1Password: service accounts and secret keys",
        &["ops_eyJ", "A3-"],
        r"(?:ops_eyJ[A-Za-z0-9+/_-]{100,}={0,3}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5})",
        ["ops_eyJ{A:300}", "A3-{U:6}-{U:6}-{U:5}-{U:5}-{U:5}-{U:5}"],
        ["ops_eyJ", "A3-{U:6}"],
    )
    .begin(),
    Rule::token(
        "age-key",
        "age: secret keys",
        &["AGE-SECRET-KEY-1", "AGE-PLUGIN-"],
        r"AGE-(?:SECRET-KEY|PLUGIN-[A-Z0-9-]{1,20})-1[0-9A-Z]{40,}",
        ["AGE-SECRET-KEY-1{bech:58}", "# secret\nAGE-SECRET-KEY-1{bech:58}"],
        ["age1{h:58}", "AGE-SECRET-KEY-1"],
    ),
    Rule::token(
        "tailscale-key",
        "Tailscale: keys of all kinds",
        &["tskey-"],
        r"tskey-(?:[a-z]{2,10}-)?[A-Za-z0-9]{6,}-[A-Za-z0-9]{20,}",
        ["tskey-auth-{A:16}-{A:32}", "tskey-api-{A:16}-{A:32}"],
        ["tskey-auth-", "tskey-auth-{A:6}"],
    ),
    Rule::token(
        "openshift-token",
        "OpenShift: OAuth tokens",
        &["sha256~"],
        r"sha256~[\w-]{43}",
        ["sha256~{w:43}", "--token=⟦sha256~{w:43}⟧"],
        ["sha256:{h:64}", "sha256~{w:8}"],
    ),
    Rule::token(
        "defined-networking-key",
        "Defined Networking: API keys",
        &["dnkey-"],
        r"dnkey-[\w=-]{26}-[\w=-]{52}",
        ["dnkey-{w:26}-{w:52}", "'dnkey-{w:26}-{w:52}'"],
        ["dnkey-", "dnkey-{w:8}"],
    ),
];

/// Accepts tokens, but not hexadecimal digits, which are usually an id.
fn not_hex(value: &str) -> bool {
    crate::plausible::token(value) && !value.bytes().all(|b| b.is_ascii_hexdigit())
}
