//! Planted secrets of chat, mail, payment, shops and other services.

use super::Kind;

pub(crate) const KINDS: &[Kind] = &[
    (
        "slack-bot",
        "api.slack.com, token types",
        "⟦xoxb-{d:12}-{d:12}-{A:24}⟧",
    ),
    (
        "slack-user",
        "api.slack.com, token types",
        "⟦xoxp-{d:12}-{d:12}-{d:12}-{h:32}⟧",
    ),
    (
        "slack-app",
        "api.slack.com, app-level tokens",
        "⟦xapp-1-A{U:10}-{d:13}-{h:64}⟧",
    ),
    (
        "slack-refresh",
        "api.slack.com, token rotation",
        "⟦xoxe-1-{A:146}⟧",
    ),
    (
        "slack-config",
        "api.slack.com, configuration tokens",
        "⟦xoxe.xoxp-1-{A:163}⟧",
    ),
    (
        "slack-webhook",
        "api.slack.com, incoming webhooks",
        "https://hooks.slack.com/services/⟦T{U:10}/B{U:10}/{A:24}⟧",
    ),
    (
        "discord-bot",
        "discord.com/developers, authentication",
        "DISCORD_BOT_TOKEN=⟦{A:26}.{A:6}.{w:38}⟧",
    ),
    (
        "discord-webhook",
        "discord.com/developers, webhooks",
        "https://discord.com/api/webhooks/{d:18}/⟦{w:68}⟧",
    ),
    (
        "telegram-bot",
        "core.telegram.org/bots/api, authorizing your bot",
        "⟦{d:10}:AA{w:33}⟧",
    ),
    (
        "teams-webhook",
        "learn.microsoft.com, incoming webhooks",
        "https://contoso.webhook.office.com/webhookb2/⟦{uuid:1}@{uuid:1}/IncomingWebhook/{h:32}/{uuid:1}⟧",
    ),
    ("twilio-key", "twilio.com/docs, API keys", "⟦SK{h:32}⟧"),
    (
        "twilio-env",
        "twilio.com/docs, TWILIO_AUTH_TOKEN",
        "TWILIO_AUTH_TOKEN=⟦{h:32}⟧",
    ),
    (
        "sendgrid",
        "sendgrid.com/docs, API keys",
        "⟦SG.{w:22}.{w:43}⟧",
    ),
    (
        "mailgun",
        "documentation.mailgun.com, API keys",
        "⟦key-{h:32}⟧",
    ),
    (
        "mailgun-signed",
        "documentation.mailgun.com; gitleaks mailgun-signing-key",
        "⟦{h:32}-{h:8}-{h:8}⟧",
    ),
    (
        "mailchimp",
        "mailchimp.com/developer, API keys",
        "⟦{h:32}-us12⟧",
    ),
    (
        "mandrill-env",
        "mailchimp.com/developer/transactional",
        "MANDRILL_API_KEY=⟦{w:22}⟧",
    ),
    (
        "brevo",
        "developers.brevo.com, API keys",
        "⟦xkeysib-{h:64}-{A:16}⟧",
    ),
    ("resend", "resend.com/docs, API keys", "⟦re_{A:8}_{A:24}⟧"),
    (
        "postmark-env",
        "postmarkapp.com/developer",
        "POSTMARK_SERVER_TOKEN=⟦{uuid:1}⟧",
    ),
    (
        "stripe-secret",
        "docs.stripe.com, API keys",
        "⟦sk_live_{A:24}⟧",
    ),
    (
        "stripe-test",
        "docs.stripe.com, API keys",
        "⟦sk_test_{A:99}⟧",
    ),
    (
        "stripe-restricted",
        "docs.stripe.com, restricted keys",
        "⟦rk_live_{A:24}⟧",
    ),
    (
        "stripe-webhook",
        "docs.stripe.com, webhook signatures",
        "⟦whsec_{A:32}⟧",
    ),
    (
        "square",
        "developer.squareup.com, access tokens",
        "⟦EAAA{w:60}⟧",
    ),
    (
        "square-secret",
        "developer.squareup.com, OAuth; gitleaks",
        "⟦sq0csp-{w:43}⟧",
    ),
    (
        "square-access",
        "developer.squareup.com, OAuth; gitleaks",
        "⟦sq0atp-{w:22}⟧",
    ),
    (
        "paypal-env",
        "developer.paypal.com",
        "PAYPAL_CLIENT_SECRET=⟦{w:80}⟧",
    ),
    (
        "paypal-braintree",
        "developer.paypal.com/braintree",
        "⟦access_token$production${a:16}${h:32}⟧",
    ),
    (
        "plaid",
        "plaid.com/docs, access tokens",
        "⟦access-production-{uuid:1}⟧",
    ),
    (
        "razorpay",
        "razorpay.com/docs, API keys",
        "⟦rzp_live_{A:14}⟧",
    ),
    (
        "adyen-env",
        "docs.adyen.com, API credentials",
        "ADYEN_API_KEY=⟦AQE{w:90}⟧",
    ),
    (
        "flutterwave",
        "developer.flutterwave.com, API keys; gitleaks",
        "⟦FLWSECK_TEST-{h:32}-X⟧",
    ),
    (
        "shopify-access",
        "shopify.dev, access tokens",
        "⟦shpat_{h:32}⟧",
    ),
    (
        "shopify-custom",
        "shopify.dev, access tokens",
        "⟦shpca_{h:32}⟧",
    ),
    (
        "shopify-private",
        "shopify.dev, access tokens",
        "⟦shppa_{h:32}⟧",
    ),
    (
        "shopify-shared",
        "shopify.dev, shared secret",
        "⟦shpss_{h:32}⟧",
    ),
    (
        "easypost",
        "docs.easypost.com, API keys; gitleaks",
        "⟦EZAK{A:54}⟧",
    ),
    (
        "shippo",
        "docs.goshippo.com, API tokens; gitleaks",
        "⟦shippo_live_{h:40}⟧",
    ),
    (
        "duffel",
        "duffel.com/docs, access tokens; gitleaks",
        "⟦duffel_test_{w:43}⟧",
    ),
    (
        "airtable",
        "airtable.com/developers, personal access tokens",
        "⟦pat{A:14}.{h:64}⟧",
    ),
    (
        "notion",
        "developers.notion.com, token format",
        "⟦ntn_{d:11}{A:35}⟧",
    ),
    (
        "notion-old",
        "developers.notion.com, token format",
        "⟦secret_{A:43}⟧",
    ),
    (
        "asana",
        "developers.asana.com, personal access tokens",
        "⟦1/{d:16}:{h:32}⟧",
    ),
    (
        "hubspot",
        "developers.hubspot.com, private apps",
        "⟦pat-na1-{uuid:1}⟧",
    ),
    (
        "zendesk-env",
        "developer.zendesk.com",
        "ZENDESK_API_TOKEN=⟦{A:40}⟧",
    ),
    (
        "dropbox-short",
        "dropbox.com/developers, access tokens; gitleaks",
        "⟦sl.{w:135}⟧",
    ),
    (
        "facebook-page",
        "developers.facebook.com, access tokens",
        "⟦EAAC{A:160}⟧",
    ),
    (
        "twitter-bearer",
        "developer.x.com, bearer tokens",
        "⟦AAAAAAAAAAAAAAAAAAAAAA{A:90}⟧",
    ),
    (
        "linkedin-env",
        "learn.microsoft.com/linkedin",
        "LINKEDIN_CLIENT_SECRET=⟦{A:16}⟧",
    ),
    (
        "mapbox-secret",
        "docs.mapbox.com, access tokens",
        "⟦sk.eyJ1Ijoi{A:60}.{w:22}⟧",
    ),
    (
        "maxmind",
        "support.maxmind.com, license key format",
        "⟦{A:6}_{A:29}_mmk⟧",
    ),
    (
        "typeform",
        "typeform.com/developers, personal access tokens",
        "⟦tfp_{w:59}⟧",
    ),
    ("frameio", "developer.frame.io; gitleaks", "⟦fio-u-{w:64}⟧"),
    (
        "okta-header",
        "developer.okta.com, API tokens",
        "Authorization: SSWS ⟦00{w:40}⟧",
    ),
    (
        "adobe",
        "developer.adobe.com; gitleaks adobe-client-secret",
        "⟦p8e-{A:32}⟧",
    ),
    (
        "intercom-env",
        "developers.intercom.com",
        "INTERCOM_ACCESS_TOKEN=⟦{w:60}⟧",
    ),
    (
        "contentful",
        "contentful.com/developers, personal access tokens",
        "⟦CFPAT-{w:43}⟧",
    ),
    (
        "atlassian-scoped",
        "support.atlassian.com, API tokens with scopes",
        "⟦ATSTT3xFfG{w:150}={H:8}⟧",
    ),
    (
        "onesignal",
        "documentation.onesignal.com, keys",
        "⟦os_v2_app_{a:100}⟧",
    ),
    (
        "web3-key-env",
        "docs.ethers.org, wallets",
        "PRIVATE_KEY=⟦0x{h:64}⟧",
    ),
    (
        "mercadopago",
        "mercadopago.com/developers, credentials",
        "⟦APP_USR-{d:16}-{d:6}-{h:32}-{d:9}⟧",
    ),
];
