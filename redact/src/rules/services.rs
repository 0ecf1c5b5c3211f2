//! Rules for chat, mail, payment, shops and other services. Sources: each vendor's page on tokens; the MIT-licensed
//! set of Gitleaks 8.30 if a vendor publishes no length.

use crate::rule::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::token(
        "slack-token",
        "Slack: tokens of bots, users, apps, configuration and rotation",
        &["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxe", "xapp-", "xoxc-", "xoxd-"],
        r"(?:xoxe\.xox[bp]-[0-9]-[A-Za-z0-9]{100,}|xox[a-e]-[A-Za-z0-9%/+-]{16,}|xox[oprs]-[A-Za-z0-9-]{16,}|xapp-[0-9]-[A-Za-z0-9-]{20,})",
        ["xoxb-{d:12}-{d:12}-{A:24}", "xapp-1-A{U:10}-{d:13}-{h:64}"],
        ["xoxb-", "xapp-1-A"],
    ),
    Rule::place(
        "slack-webhook",
        "Slack: incoming webhooks and triggers",
        &["hooks.slack.com/"],
        r"(?i)hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{30,})",
        ["https://hooks.slack.com/services/⟦T{U:10}/B{U:10}/{A:24}⟧", "hooks.slack.com/triggers/⟦T{U:10}/{d:13}/{h:32}⟧"],
        ["https://hooks.slack.com/services/T000/B000/XXXX", "https://hooks.slack.com/services/"],
    ),
    Rule::place(
        "discord-webhook",
        "Discord: webhooks",
        &["/api/webhooks/", "/api/v"],
        r"(?i)/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{15,21}/([\w-]{50,})",
        ["https://discord.com/api/webhooks/{d:18}/⟦{w:68}⟧", "https://discordapp.com/api/v10/webhooks/{d:18}/⟦{w:68}⟧"],
        ["https://discord.com/api/webhooks/{d:18}", "/api/v10/users/me"],
    ),
    Rule::token(
        "discord-token",
        "Discord: tokens of bots",
        &["MT", "Nz", "OT", "ND", "NT", "NjA", "Nj"],
        r"[MNO][A-Za-z0-9]{23,27}\.[\w-]{6}\.[\w-]{27,}",
        ["MT{A:24}.{A:6}.{w:38}", "Bot ⟦OT{A:22}.{A:6}.{w:27}⟧"],
        ["MT{A:24}", "NT.{A:6}.{w:38}"],
    )
    .begin(),
    Rule::token(
        "telegram-token",
        "Telegram: tokens of bots",
        &[":AA"],
        r"[0-9]{8,10}:AA[\w-]{33}",
        ["{d:10}:AA{w:33}", "https://api.telegram.org/bot⟦{d:10}:AA{w:33}⟧/getMe"],
        ["12:30:AA", "{d:10}:AA{w:8}"],
    )
    .back(&[10, 9, 8]),
    Rule::place(
        "teams-webhook",
        "Microsoft Teams: incoming webhooks",
        &["/webhookb2/"],
        r"(?i)/webhookb2/([0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[0-9a-f]{32}/[\w-]{30,})",
        [
            "https://contoso.webhook.office.com/webhookb2/⟦{uuid:1}@{uuid:1}/IncomingWebhook/{h:32}/{uuid:1}⟧",
            "/webhookb2/⟦{uuid:1}@{uuid:1}/IncomingWebhook/{h:32}/{uuid:1}⟧",
        ],
        ["/webhookb2/", "/webhookb2/{uuid:1}"],
    ),
    Rule::token(
        "twilio-key",
        "Twilio: API keys",
        &["SK"],
        r"SK[0-9a-f]{32}",
        ["SK{h:32}", "twilio ⟦SK{h:32}⟧"],
        ["SK{h:8}", "TASK{h:32}"],
    )
    .word(),
    Rule::token(
        "sendgrid-key",
        "SendGrid: API keys",
        &["SG."],
        r"SG\.[\w-]{20,24}\.[\w-]{39,50}",
        ["SG.{w:22}.{w:43}", "Bearer SG.{w:22}.{w:43}"],
        ["SG.x", "SG.{w:22}"],
    )
    .begin(),
    Rule::token(
        "mailgun-key",
        "Mailgun: private keys",
        &["key-"],
        r"(?:pub)?key-[0-9a-f]{32}",
        ["key-{h:32}", "api:⟦key-{h:32}⟧"],
        ["key-{h:8}", "monkey-{h:32}"],
    )
    .word(),
    Rule::token(
        "mailchimp-key",
        "Mailchimp: API keys",
        &["-us"],
        r"[0-9a-f]{32}-us[0-9]{1,2}",
        ["{h:32}-us12", "\"⟦{h:32}-us6⟧\""],
        ["{h:8}-us12", "{h:32}-user"],
    )
    .word()
    .back(&[32]),
    Rule::token(
        "brevo-key",
        "Brevo: API and SMTP keys",
        &["xkeysib-", "xsmtpsib-"],
        r"x(?:keys|smtps)ib-[0-9a-f]{64}-[A-Za-z0-9]{16}",
        ["xkeysib-{h:64}-{A:16}", "xsmtpsib-{h:64}-{A:16}"],
        ["xkeysib-", "xkeysib-{h:8}"],
    ),
    Rule::token(
        "resend-key",
        "Resend: API keys",
        &["re_"],
        r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}",
        ["re_{A:8}_{A:24}", "Bearer re_{A:8}_{A:24}"],
        ["re_{A:8}", "are_{A:8}_{A:24}"],
    )
    .word()
    .check(crate::plausible::random),
    Rule::token(
        "stripe-key",
        "Stripe: secret, restricted and webhook keys",
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_", "whsec_"],
        r"(?:[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/]{24,}={0,2})",
        ["sk_live_{A:24}", "whsec_{A:32}"],
        ["sk_live_", "sk_test_xxxxxxxxxxxxxxxxxxxx"],
    ),
    Rule::token(
        "square-token",
        "Square: access tokens and secrets",
        &["EAAA", "sq0atp-", "sq0csp-", "sq0idp-"],
        r"(?:EAAA[\w-]{60}|sq0[a-z]{3}-[\w-]{22,})",
        ["EAAA{w:60}", "sq0csp-{w:43}"],
        ["EAAA{w:8}", "sq0atp-x"],
    )
    .begin(),
    Rule::token(
        "braintree-token",
        "Braintree: access tokens",
        &["access_token$"],
        r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32}",
        ["access_token$production${a:16}${h:32}", "'access_token$sandbox${a:16}${h:32}'"],
        ["access_token$", "access_token$production"],
    ),
    Rule::token(
        "plaid-token",
        "Plaid: access tokens",
        &["access-sandbox-", "access-development-", "access-production-"],
        r"access-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        ["access-production-{uuid:1}", "access-sandbox-{uuid:1}"],
        ["access-production-db", "access-sandbox-"],
    ),
    Rule::token(
        "razorpay-key",
        "Razorpay: API keys",
        &["rzp_live_", "rzp_test_"],
        r"rzp_(?:live|test)_[A-Za-z0-9]{14,}",
        ["rzp_live_{A:14}", "rzp_test_{A:14}"],
        ["rzp_live_", "rzp_live_x"],
    ),
    Rule::token(
        "flutterwave-key",
        "Flutterwave: secret and encryption keys",
        &["FLWSECK"],
        r"FLWSECK(?:_TEST)?-[0-9a-zA-Z]{12,}(?:-X)?",
        ["FLWSECK_TEST-{h:32}-X", "FLWSECK-{h:32}-X"],
        ["FLWSECK_TEST-", "FLWPUBK_TEST-{h:32}-X"],
    ),
    Rule::token(
        "shopify-token",
        "Shopify: access tokens and shared secrets",
        &["shpat_", "shpca_", "shppa_", "shpss_", "shptka_", "shpua_"],
        r"shp(?:at|ca|pa|ss|tka|ua)_[0-9a-fA-F]{32}",
        ["shpat_{h:32}", "shpss_{h:32}"],
        ["shpat_{h:8}", "shpat_token"],
    ),
    Rule::token(
        "easypost-key",
        "EasyPost: API keys",
        &["EZAK", "EZTK"],
        r"EZ[AT]K[A-Za-z0-9]{54}",
        ["EZAK{A:54}", "EZTK{A:54}"],
        ["EZAK{A:8}", "{A:8}EZAK{A:54}"],
    )
    .word(),
    Rule::token(
        "shippo-token",
        "Shippo: API tokens",
        &["shippo_live_", "shippo_test_"],
        r"shippo_(?:live|test)_[0-9a-fA-F]{40}",
        ["shippo_live_{h:40}", "shippo_test_{h:40}"],
        ["shippo_live_", "shippo_test_{h:8}"],
    ),
    Rule::token(
        "duffel-token",
        "Duffel: access tokens",
        &["duffel_test_", "duffel_live_"],
        r"duffel_(?:test|live)_[\w=-]{40,}",
        ["duffel_test_{w:43}", "duffel_live_{w:43}"],
        ["duffel_test_", "duffel_test_{w:8}"],
    ),
    Rule::token(
        "airtable-token",
        "Airtable: personal access tokens",
        &["pat"],
        r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}",
        ["pat{A:14}.{h:64}", "Bearer pat{A:14}.{h:64}"],
        ["pat{A:14}", "path.{h:64}"],
    )
    .word(),
    Rule::token(
        "notion-token",
        "Notion: integration tokens",
        &["ntn_", "secret_"],
        r"(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})",
        ["ntn_{d:11}{A:35}", "secret_{A:43}"],
        ["ntn_{A:8}", "secret_access_key"],
    )
    .word(),
    Rule::token(
        "asana-token",
        "Asana: personal access tokens",
        &["1/", "2/"],
        r"[12]/[0-9]{13,19}(?:/[0-9]{13,19})?:[0-9a-f]{32}",
        ["1/{d:16}:{h:32}", "2/{d:16}/{d:16}:{h:32}"],
        ["1/2", "1/{d:16}"],
    )
    .word(),
    Rule::token(
        "hubspot-token",
        "HubSpot: tokens of private apps",
        &["pat-na", "pat-eu", "pat-ap"],
        r"pat-(?:na|eu|ap)[0-9]-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        ["pat-na1-{uuid:1}", "pat-eu1-{uuid:1}"],
        ["pat-na1-", "pat-name"],
    )
    .word(),
    Rule::token(
        "dropbox-token",
        "Dropbox: access tokens",
        &["sl."],
        r"sl\.(?:u\.)?[\w-]{100,}",
        ["sl.{w:135}", "Bearer sl.u.{w:135}"],
        ["sl.{w:12}", "xsl.{w:135}"],
    )
    .begin(),
    Rule::token(
        "facebook-token",
        "Facebook: access tokens",
        &["EAAC", "EAAM", "EAAB", "EAAG", "EAAJ", "EAAD"],
        r"EAA[A-Z][A-Za-z0-9]{90,}",
        ["EAAC{A:160}", "access_token=⟦EAAM{A:160}⟧"],
        ["EAAC{A:8}", "{A:8}EAAC{A:160}"],
    )
    .begin(),
    Rule::token(
        "twitter-bearer",
        "X: bearer tokens",
        &["AAAAAAAAAAAAAAAAAAAAAA"],
        r"A{22}[A-Za-z0-9%]{70,}",
        ["AAAAAAAAAAAAAAAAAAAAAA{A:90}", "Bearer AAAAAAAAAAAAAAAAAAAAAA{A:90}"],
        ["AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"],
    )
    .begin(),
    Rule::token(
        "mapbox-token",
        "Mapbox: secret tokens",
        &["sk.eyJ"],
        r"sk\.eyJ[\w-]{40,}\.[\w-]{20,}",
        ["sk.eyJ1Ijoi{A:60}.{w:22}", "?access_token=⟦sk.eyJ1Ijoi{A:60}.{w:22}⟧"],
        ["sk.eyJ", "sk.eyJ{A:60}"],
    ),
    Rule::token(
        "maxmind-key",
        "MaxMind: license keys",
        &["_mmk"],
        r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk",
        ["{A:6}_{A:29}_mmk", "LicenseKey ⟦{A:6}_{A:29}_mmk⟧"],
        ["x_mmk", "{A:29}_mmk"],
    )
    .back(&[36]),
    Rule::token(
        "typeform-token",
        "Typeform: personal access tokens",
        &["tfp_"],
        r"tfp_[\w.=-]{50,}",
        ["tfp_{w:59}", "Bearer tfp_{w:59}"],
        ["tfp_{w:8}", "tfp_form"],
    ),
    Rule::token(
        "frameio-token",
        "Frame.io: API tokens",
        &["fio-u-"],
        r"fio-u-[\w=-]{60,}",
        ["fio-u-{w:64}", "Bearer fio-u-{w:64}"],
        ["fio-u-x", "fio-u-{w:8}"],
    ),
    Rule::token(
        "adobe-secret",
        "Adobe: client secrets",
        &["p8e-", "p8-"],
        r"p8e?-[\w-]{32,}",
        ["p8e-{A:32}", "secret ⟦p8e-{A:32}⟧"],
        ["p8e-x", "map8e-{A:32}"],
    )
    .begin(),
    Rule::token(
        "contentful-token",
        "Contentful: personal access tokens",
        &["CFPAT-"],
        r"CFPAT-[\w-]{40,}",
        ["CFPAT-{w:43}", "Bearer CFPAT-{w:43}"],
        ["CFPAT-x", "CFPAT-{w:8}"],
    ),
    Rule::token(
        "onesignal-key",
        "OneSignal: keys of apps and organisations",
        &["os_v2_app_", "os_v2_org_"],
        r"os_v2_(?:app|org)_[a-z0-9]{60,}",
        ["os_v2_app_{a:100}", "Key os_v2_org_{a:100}"],
        ["os_v2_app_", "os_v2_app_{a:8}"],
    ),
    Rule::token(
        "mercadopago-token",
        "Mercado Pago: access tokens",
        &["APP_USR-"],
        r"APP_USR-[0-9]{12,20}-[0-9]{6}-[0-9a-f]{32}-[0-9]{5,12}",
        ["APP_USR-{d:16}-{d:6}-{h:32}-{d:9}", "Bearer APP_USR-{d:16}-{d:6}-{h:32}-{d:9}"],
        ["APP_USR-{uuid:1}", "APP_USR-"],
    ),
];
