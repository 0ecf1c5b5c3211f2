//! Planted secrets of clouds, hosting, networks, hosted databases and vaults.

use super::Kind;

pub(crate) const KINDS: &[Kind] = &[
    (
        "aws-access-key-id",
        "docs.aws.amazon.com/IAM, unique identifiers",
        "⟦AKIA{32:16}⟧",
    ),
    (
        "aws-temporary-key-id",
        "docs.aws.amazon.com/IAM, unique identifiers",
        "⟦ASIA{32:16}⟧",
    ),
    (
        "aws-secret-env",
        "docs.aws.amazon.com/cli, environment variables",
        "AWS_SECRET_ACCESS_KEY=⟦{b:40}⟧",
    ),
    (
        "aws-secret-file",
        "docs.aws.amazon.com/cli, credentials file",
        "[default]\naws_secret_access_key = ⟦{b:40}⟧\nregion = eu-west-1",
    ),
    (
        "aws-session-env",
        "docs.aws.amazon.com/cli, environment variables",
        "export AWS_SESSION_TOKEN=\"⟦{b:340}==⟧\"",
    ),
    (
        "aws-secret-json",
        "docs.aws.amazon.com/STS, AssumeRole",
        "{\"SecretAccessKey\": \"⟦{b:40}⟧\"}",
    ),
    (
        "aws-presigned",
        "docs.aws.amazon.com/AmazonS3, presigned URLs",
        "https://b.s3.amazonaws.com/k?X-Amz-Date=20260101T000000Z&X-Amz-Signature=⟦{h:64}⟧",
    ),
    (
        "gcp-oauth-access",
        "cloud.google.com, OAuth access tokens",
        "⟦ya29.{w:140}⟧",
    ),
    (
        "gcp-oauth-refresh",
        "developers.google.com/identity, refresh tokens",
        "⟦1//0{w:100}⟧",
    ),
    (
        "gcp-oauth-secret",
        "support.google.com/cloud, client secrets",
        "⟦GOCSPX-{w:28}⟧",
    ),
    (
        "gcp-service-account",
        "cloud.google.com/iam, service account keys",
        "{\"type\": \"service_account\", \"private_key\": \"⟦-----BEGIN PRIVATE KEY-----\\n{b:64}\\n{b:64}\\n{b:40}==\\n-----END PRIVATE KEY-----\\n⟧\", \"client_email\": \"x\"}",
    ),
    (
        "azure-client-secret",
        "learn.microsoft.com/entra, client secrets; gitleaks azure-ad-client-secret",
        "⟦{A:3}8Q~{A:34}⟧",
    ),
    (
        "azure-storage-key",
        "learn.microsoft.com/azure/storage, connection strings",
        "DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=⟦{b:86}==⟧;EndpointSuffix=core.windows.net",
    ),
    (
        "azure-service-bus",
        "learn.microsoft.com/azure/service-bus, connection strings",
        "Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=⟦{b:43}=⟧",
    ),
    (
        "azure-sas",
        "learn.microsoft.com/azure/storage, SAS",
        "https://acct.blob.core.windows.net/c?sv=2024-01-01&se=2026-01-01&sr=c&sp=r&sig=⟦{A:43}%3D⟧",
    ),
    (
        "azure-devops",
        "learn.microsoft.com/azure/devops, PAT format",
        "⟦{A:76}AZDO{A:4}⟧",
    ),
    (
        "azure-cosmos",
        "learn.microsoft.com/azure/cosmos-db",
        "AccountEndpoint=https://x.documents.azure.com:443/;AccountKey=⟦{b:86}==⟧;",
    ),
    (
        "alibaba-key-id",
        "alibabacloud.com/help, AccessKey; gitleaks",
        "⟦LTAI{A:20}⟧",
    ),
    (
        "tencent-key-id",
        "cloud.tencent.com, SecretId",
        "⟦AKID{A:32}⟧",
    ),
    (
        "yandex-api",
        "yandex.cloud/docs, API keys; gitleaks",
        "⟦AQVN{w:36}⟧",
    ),
    (
        "digitalocean-personal",
        "docs.digitalocean.com, token prefixes",
        "⟦dop_v1_{h:64}⟧",
    ),
    (
        "digitalocean-oauth",
        "docs.digitalocean.com, token prefixes",
        "⟦doo_v1_{h:64}⟧",
    ),
    (
        "digitalocean-refresh",
        "docs.digitalocean.com, token prefixes",
        "⟦dor_v1_{h:64}⟧",
    ),
    (
        "heroku",
        "devcenter.heroku.com, token prefix",
        "⟦HRKU-AA{w:58}⟧",
    ),
    (
        "heroku-env",
        "devcenter.heroku.com, HEROKU_API_KEY",
        "HEROKU_API_KEY=⟦{uuid:1}⟧",
    ),
    ("fly-personal", "fly.io/docs, access tokens", "⟦fo1_{w:43}⟧"),
    ("fly-macaroon", "fly.io/docs, macaroons", "⟦fm2_{b:160}==⟧"),
    (
        "cloudflare-env",
        "developers.cloudflare.com, API tokens",
        "CLOUDFLARE_API_TOKEN=⟦{w:40}⟧",
    ),
    (
        "cloudflare-origin-ca",
        "developers.cloudflare.com, Origin CA keys",
        "⟦v1.0-{h:24}-{h:146}⟧",
    ),
    (
        "vercel-env",
        "vercel.com/docs, VERCEL_TOKEN",
        "VERCEL_TOKEN=⟦{A:24}⟧",
    ),
    (
        "netlify",
        "docs.netlify.com, personal access tokens (nfp_)",
        "⟦nfp_{A:36}⟧",
    ),
    ("render", "render.com/docs, API keys", "⟦rnd_{A:32}⟧"),
    (
        "linode-env",
        "techdocs.akamai.com, LINODE_TOKEN",
        "LINODE_TOKEN=⟦{h:64}⟧",
    ),
    (
        "scaleway-env",
        "scaleway.com/docs, SCW_SECRET_KEY",
        "SCW_SECRET_KEY=⟦{uuid:1}⟧",
    ),
    (
        "supabase-personal",
        "supabase.com/docs, access tokens",
        "⟦sbp_{h:40}⟧",
    ),
    (
        "supabase-secret",
        "supabase.com/docs, API keys",
        "⟦sb_secret_{w:31}⟧",
    ),
    (
        "planetscale-password",
        "planetscale.com/docs, passwords",
        "⟦pscale_pw_{w:43}⟧",
    ),
    (
        "planetscale-service",
        "planetscale.com/docs, service tokens",
        "⟦pscale_tkn_{w:43}⟧",
    ),
    ("neon", "neon.com/docs, API keys", "⟦napi_{a:64}⟧"),
    (
        "databricks",
        "docs.databricks.com, personal access tokens",
        "⟦dapi{h:32}⟧",
    ),
    (
        "databricks-suffixed",
        "docs.databricks.com, personal access tokens",
        "⟦dapi{h:32}-2⟧",
    ),
    (
        "clickhouse",
        "clickhouse.com/docs, API keys; gitleaks",
        "⟦4b1d{A:38}⟧",
    ),
    (
        "confluent-env",
        "docs.confluent.io",
        "CONFLUENT_CLOUD_API_SECRET=⟦{b:64}⟧",
    ),
    (
        "vault-service",
        "developer.hashicorp.com/vault, token prefixes",
        "⟦hvs.{w:95}⟧",
    ),
    (
        "vault-batch",
        "developer.hashicorp.com/vault, token prefixes",
        "⟦hvb.{w:140}⟧",
    ),
    (
        "vault-recovery",
        "developer.hashicorp.com/vault, token prefixes",
        "⟦hvr.{w:95}⟧",
    ),
    (
        "onepassword-service",
        "developer.1password.com, service accounts",
        "⟦ops_eyJ{A:300}⟧",
    ),
    (
        "onepassword-secret-key",
        "support.1password.com, Secret Key",
        "⟦A3-{U:6}-{U:6}-{U:5}-{U:5}-{U:5}-{U:5}⟧",
    ),
    (
        "age",
        "age-encryption.org, v1 format",
        "⟦AGE-SECRET-KEY-1{bech:58}⟧",
    ),
    (
        "tailscale-auth",
        "tailscale.com/kb, auth keys",
        "⟦tskey-auth-{A:16}-{A:32}⟧",
    ),
    (
        "tailscale-api",
        "tailscale.com/kb, API access tokens",
        "⟦tskey-api-{A:16}-{A:32}⟧",
    ),
    (
        "openshift",
        "docs.openshift.com, OAuth tokens",
        "⟦sha256~{w:43}⟧",
    ),
    (
        "kubernetes-kubeconfig",
        "kubernetes.io/docs, kubeconfig",
        "users:\n- name: admin\n  user:\n    client-key-data: ⟦LS0tLS1CRUdJTi{b:400}==⟧\n",
    ),
    (
        "kubernetes-secret",
        "kubernetes.io/docs, Secret",
        "apiVersion: v1\nkind: Secret\ndata:\n  password: ⟦{b:30}==⟧\n",
    ),
    (
        "defined-networking",
        "docs.defined.net; gitleaks",
        "⟦dnkey-{w:26}-{w:52}⟧",
    ),
    (
        "algolia-env",
        "algolia.com/doc, admin API key",
        "ALGOLIA_ADMIN_KEY=⟦{h:32}⟧",
    ),
    (
        "firebase-messaging",
        "firebase.google.com/docs, legacy server keys",
        "⟦AAAA{w:7}:{w:140}⟧",
    ),
    (
        "cloudinary-url",
        "cloudinary.com/documentation, CLOUDINARY_URL",
        "CLOUDINARY_URL=cloudinary://{d:15}:⟦{w:27}⟧@demo",
    ),
];
