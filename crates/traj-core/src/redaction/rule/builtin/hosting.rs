//! Tokens of hosting, edge and network providers.

use crate::redaction::rule::definition::{MatchCheck, Row, near, prefix};

pub(super) const ROWS: &[Row] = &[
    prefix("cloudflare-origin-ca", "Cloudflare origin CA key", &["v1.0-"], r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}", &["v1.0-{hex:24}-{hex:146}"], &["v1.0-beta"]),
    prefix("cloudflare-api-token", "Cloudflare API token of the 2025 scheme", &["cfut_", "cfat_", "cfk_"], r"cf(?:ut|at|k)_[A-Za-z0-9_-]{36,}", &["cfut_{an:48}"], &["cfut_"]),
    prefix("netlify-token", "Netlify access token", &["nfp_", "nfc_", "nfo_", "nfu_"], r"nf[pcou]_[A-Za-z0-9_]{32,}", &["nfp_{an:36}"], &["nfp_"]),
    prefix("render-key", "Render API key", &["rnd_"], r"rnd_[A-Za-z0-9]{28,}", &["rnd_{an:32}"], &["rnd_seed_generator_state"]),
    prefix("vercel-token", "Vercel access token", &["vcp_", "vci_", "vca_", "vcr_"], r"vc[piar]_[A-Za-z0-9]{40,}", &["vcp_{an:56}"], &["vcp_"]),
    prefix("flyio-token", "Fly.io token", &["fm1r_", "fm1a_", "fm2_", "fo1_"], r"(?:fm1[ra]_|fm2_|fo1_)[A-Za-z0-9+/_=-]{40,}", &["fm2_{b64:120}", "fo1_{url:43}"], &["fm2_"]),
    prefix("tailscale-key", "Tailscale key", &["tskey-"], r"tskey-[a-z]+-[A-Za-z0-9_-]{15,}", &["tskey-auth-{an:17}-{an:32}", "tskey-api-{an:17}-{an:32}"], &["tskey-auth"]),
    prefix("heroku-key", "Heroku API key", &["HRKU-"], r"HRKU-[A-Za-z0-9_-]{36,}", &["HRKU-{url:60}", "HRKU-{uuid}"], &["HRKU-"]),
    prefix("deno-deploy-token", "Deno Deploy token", &["ddp_", "ddw_"], r"dd[pw]_[A-Za-z0-9]{36}", &["ddp_{an:36}"], &["ddp_"]),
    prefix("netbird-token", "NetBird access token", &["nbp_"], r"nbp_[A-Za-z0-9]{36}", &["nbp_{an:36}"], &["nbp_"]),
    near("node-provider-url", "Node provider key in a URL", &["infura.io/", "alchemy.com/", "alchemyapi.io/", "quiknode.pro/", "ankr.com/", "blastapi.io/", "moralis"], r"(?:infura\.io/(?:ws/)?v3|alchemy(?:api)?\.(?:com|io)/v2|quiknode\.pro|ankr\.com/[a-z_]+|blastapi\.io)/([A-Za-z0-9_-]{28,})", &["https://mainnet.infura.io/v3/{hex:32}", "https://eth-mainnet.g.alchemy.com/v2/{url:32}"], &["https://infura.io/docs"]),
    near("cloudflare-tunnel", "Cloudflare tunnel token", &["tunnel run", "service install"], r"(?:--token[ =]|service install )(eyJ[A-Za-z0-9+/=]{60,})", &["cloudflared tunnel run --token eyJ{an:120}"], &["cloudflared tunnel run web"]),
    near("webhook-url", "Web hook of an automation service", &["hooks.zapier.com/", "hook.", "webhook.site/", "outlook.office.com/webhook", "ifttt.com/use/", "ifttt.com/trigger", "discord.com/api/webhooks", "discordapp.com/api/webhooks", "webhook.office.com/", "hooks.slack.com/", "chat.googleapis.com/", "logic.azure.com", "n8n.cloud/webhook"], r"(?:hooks\.zapier\.com/hooks/catch/([A-Za-z0-9]+/[A-Za-z0-9/]+|[A-Za-z0-9]{12,})|hook\.(?:eu\d?|us\d?)\.make\.com/([a-z0-9]{20,})|ifttt\.com/(?:use/|trigger/[A-Za-z0-9_]+/(?:json/)?with/key/)([A-Za-z0-9_-]{20,})|discord(?:app)?\.com/api/webhooks/\d+/([A-Za-z0-9_-]{40,})|hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{16,})|webhook\.office\.com/webhookb2/([A-Za-z0-9@/_-]{36,})|outlook\.office\.com/webhook/([A-Za-z0-9@/_-]{36,})|chat\.googleapis\.com/v1/spaces/[A-Za-z0-9_-]+/messages\?key=[A-Za-z0-9_-]+&token=([A-Za-z0-9_%-]{20,}))", &["https://hooks.slack.com/services/T{up:8}/B{up:10}/{an:24}", "https://discord.com/api/webhooks/{d:18}/{url:68}", "https://hooks.zapier.com/hooks/catch/{d:7}/{lo:7}/", "https://acme.webhook.office.com/webhookb2/{uuid}@{uuid}/IncomingWebhook/{hex:32}/{uuid}"], &["https://discord.com/api/webhooks", "https://hooks.slack.com/services"]).check(MatchCheck::Entropy(2.0)),
];
