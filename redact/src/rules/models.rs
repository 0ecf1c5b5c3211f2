//! Rules for providers of models and of vector databases. Sources: each vendor's page on API keys.

use crate::rule::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::token(
        "anthropic-key",
        "Anthropic: API, admin and OAuth keys",
        &["sk-ant-"],
        r"sk-ant-[a-z]{3,8}[0-9]{2}-[\w-]{24,}",
        ["sk-ant-api03-{w:93}AA", "key=sk-ant-admin01-{w:93}AA;"],
        [
            "Keys begin with sk-ant-api03-",
            "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        ],
    ),
    Rule::token(
        "openai-key",
        "OpenAI: keys of users, projects, service accounts and admins",
        &["sk-"],
        r"sk-(?:(?:proj|svcacct|admin|None)-[\w-]{40,}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20})",
        ["sk-proj-{w:74}T3BlbkFJ{w:74}", "sk-{A:20}T3BlbkFJ{A:20}"],
        [
            "sk-proj-abc",
            "ask-proj-managers-for-the-plan-of-the-next-quarter-please",
        ],
    )
    .begin(),
    Rule::token(
        "openrouter-key",
        "OpenRouter: API keys",
        &["sk-or-"],
        r"sk-or-(?:v[0-9]-)?[0-9a-f]{40,}",
        ["sk-or-v1-{h:64}", "Bearer sk-or-v1-{h:64}"],
        ["sk-or-v1-", "sk-or-v1-zzz"],
    ),
    Rule::token(
        "model-key",
        "Keys of DeepSeek, Moonshot, Qwen and others: `sk-` and then hexadecimal digits or letters",
        &["sk-"],
        r"sk-(?:[0-9a-f]{32}|[A-Za-z0-9]{48,})",
        ["sk-{h:32}", "OPENAI: sk-{A:48}"],
        ["task-{h:32}", "sk-{h:20}"],
    )
    .word(),
    Rule::token(
        "groq-key",
        "Groq: API keys",
        &["gsk_"],
        r"gsk_[A-Za-z0-9]{40,}",
        ["gsk_{A:52}", "GROQ=gsk_{A:52}"],
        ["gsk_{A:12}", "gsk_your_key_here"],
    ),
    Rule::token(
        "xai-key",
        "xAI: API keys",
        &["xai-"],
        r"xai-[A-Za-z0-9]{60,}",
        ["xai-{A:80}", "'xai-{A:80}'"],
        ["xai-grok-beta", "xai-{A:20}"],
    ),
    Rule::token(
        "perplexity-key",
        "Perplexity: API keys",
        &["pplx-"],
        r"pplx-[A-Za-z0-9]{40,}",
        ["pplx-{A:48}", "\"pplx-{A:48}\""],
        ["pplx-70b-online", "pplx-7b-chat-alpha"],
    ),
    Rule::token(
        "huggingface-token",
        "Hugging Face: tokens of users and organisations",
        &["hf_", "api_org_"],
        r"(?:hf|api_org)_[A-Za-z0-9]{30,}",
        ["hf_{L:34}", "api_org_{L:34}"],
        ["hf_hub_download", "hf_{L:10}"],
    )
    .begin(),
    Rule::token(
        "replicate-token",
        "Replicate: API tokens",
        &["r8_"],
        r"r8_[A-Za-z0-9]{37,}",
        ["r8_{A:37}", "REPLICATE=r8_{A:37}"],
        ["r8_{A:8}", "bar8_{A:37}"],
    )
    .begin(),
    Rule::token(
        "langsmith-key",
        "LangSmith: API keys",
        &["lsv2_"],
        r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}",
        ["lsv2_pt_{h:32}_{h:10}", "lsv2_sk_{h:32}_{h:10}"],
        ["lsv2_pt_", "lsv2_pt_{h:10}"],
    ),
    Rule::token(
        "langfuse-key",
        "Langfuse: secret keys",
        &["sk-lf-"],
        r"sk-lf-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        ["sk-lf-{uuid:1}", "\"sk-lf-{uuid:1}\""],
        ["pk-lf-{uuid:1}", "sk-lf-..."],
    ),
    Rule::token(
        "nvidia-key",
        "NVIDIA: API keys",
        &["nvapi-"],
        r"nvapi-[\w-]{50,}",
        ["nvapi-{w:64}", "NGC nvapi-{w:64}"],
        ["nvapi-key", "nvapi-{w:20}"],
    ),
    Rule::token(
        "fireworks-key",
        "Fireworks: API keys",
        &["fw_"],
        r"fw_[A-Za-z0-9]{22,}",
        ["fw_{A:24}", "'fw_{A:24}'"],
        ["fw_version_number", "abfw_{A:24}"],
    )
    .word(),
    Rule::token(
        "cerebras-key",
        "Cerebras: API keys",
        &["csk-"],
        r"csk-[a-z0-9]{40,}",
        ["csk-{a:48}", "=csk-{a:48}"],
        ["csk-{a:12}", "csk-model-large"],
    ),
    Rule::token(
        "pinecone-key",
        "Pinecone: API keys",
        &["pcsk_"],
        r"pcsk_[A-Za-z0-9]{5,8}_[A-Za-z0-9]{50,}",
        ["pcsk_{A:6}_{A:63}", "'pcsk_{A:5}_{A:63}'"],
        ["pcsk_{A:6}", "pcsk_{A:6}_{A:10}"],
    ),
    Rule::token(
        "tavily-key",
        "Tavily: API keys",
        &["tvly-"],
        r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{28,}",
        ["tvly-{A:32}", "tvly-dev-{A:32}"],
        ["tvly-YOUR_API_KEY", "tvly-{A:8}"],
    ),
    Rule::token(
        "elevenlabs-key",
        "ElevenLabs: API keys",
        &["sk_"],
        r"sk_[0-9a-f]{48}",
        ["sk_{h:48}", "xi-api-key: sk_{h:48}"],
        ["task_{h:48}", "sk_{h:16}"],
    )
    .word(),
];
