//! Planted secrets of providers of models, vector databases and their tools.

use super::Kind;

pub(crate) const KINDS: &[Kind] = &[
    (
        "anthropic-api",
        "docs.anthropic.com, API keys; gitleaks anthropic-api-key",
        "⟦sk-ant-api03-{w:93}AA⟧",
    ),
    (
        "anthropic-admin",
        "docs.anthropic.com, Admin API",
        "⟦sk-ant-admin01-{w:93}AA⟧",
    ),
    (
        "anthropic-oauth",
        "docs.anthropic.com, Claude Code authentication (setup-token)",
        "⟦sk-ant-oat01-{w:93}AA⟧",
    ),
    (
        "openai-legacy",
        "platform.openai.com, API keys; gitleaks openai-api-key",
        "⟦sk-{A:20}T3BlbkFJ{A:20}⟧",
    ),
    (
        "openai-project",
        "platform.openai.com, project API keys",
        "⟦sk-proj-{w:74}T3BlbkFJ{w:74}⟧",
    ),
    (
        "openai-service-account",
        "platform.openai.com, service accounts",
        "⟦sk-svcacct-{w:58}T3BlbkFJ{w:58}⟧",
    ),
    (
        "openai-admin",
        "platform.openai.com, Admin API keys",
        "⟦sk-admin-{w:58}T3BlbkFJ{w:58}⟧",
    ),
    (
        "openrouter",
        "openrouter.ai/docs, Authentication",
        "⟦sk-or-v1-{h:64}⟧",
    ),
    (
        "deepseek",
        "api-docs.deepseek.com, Your first API call",
        "⟦sk-{h:32}⟧",
    ),
    ("groq", "console.groq.com/docs, API keys", "⟦gsk_{A:52}⟧"),
    ("xai", "docs.x.ai, API keys", "⟦xai-{A:80}⟧"),
    (
        "perplexity",
        "docs.perplexity.ai, API keys",
        "⟦pplx-{A:48}⟧",
    ),
    (
        "huggingface-user",
        "huggingface.co/docs/hub/security-tokens",
        "⟦hf_{L:34}⟧",
    ),
    (
        "huggingface-organisation",
        "huggingface.co/docs; gitleaks",
        "⟦api_org_{L:34}⟧",
    ),
    ("replicate", "replicate.com/docs, API tokens", "⟦r8_{A:37}⟧"),
    ("google-ai", "ai.google.dev, API keys", "⟦AIza{w:35}⟧"),
    (
        "langsmith",
        "docs.smith.langchain.com, API keys",
        "⟦lsv2_pt_{h:32}_{h:10}⟧",
    ),
    (
        "langfuse",
        "langfuse.com/docs, API keys",
        "⟦sk-lf-{uuid:1}⟧",
    ),
    ("nvidia", "docs.api.nvidia.com, API keys", "⟦nvapi-{w:64}⟧"),
    ("fireworks", "docs.fireworks.ai, API keys", "⟦fw_{A:24}⟧"),
    ("cerebras", "inference-docs.cerebras.ai", "⟦csk-{a:48}⟧"),
    (
        "pinecone",
        "docs.pinecone.io, API keys",
        "⟦pcsk_{A:6}_{A:63}⟧",
    ),
    ("tavily", "docs.tavily.com, API keys", "⟦tvly-{A:32}⟧"),
    (
        "bedrock-long",
        "docs.aws.amazon.com/bedrock, API keys; gitleaks",
        "⟦ABSK{b:128}⟧",
    ),
    ("elevenlabs", "elevenlabs.io/docs, API keys", "⟦sk_{h:48}⟧"),
    (
        "cohere-env",
        "docs.cohere.com, CO_API_KEY",
        "CO_API_KEY=⟦{A:40}⟧",
    ),
    (
        "mistral-env",
        "docs.mistral.ai, MISTRAL_API_KEY",
        "export MISTRAL_API_KEY=⟦{A:32}⟧",
    ),
    (
        "together-env",
        "docs.together.ai, TOGETHER_API_KEY",
        "TOGETHER_API_KEY=\"⟦{h:64}⟧\"",
    ),
    (
        "azure-openai-env",
        "learn.microsoft.com, AZURE_OPENAI_API_KEY",
        "AZURE_OPENAI_API_KEY: ⟦{h:32}⟧",
    ),
    (
        "wandb-env",
        "docs.wandb.ai, WANDB_API_KEY",
        "WANDB_API_KEY=⟦{h:40}⟧",
    ),
    (
        "anthropic-header",
        "docs.anthropic.com, x-api-key",
        "curl -H 'x-api-key: ⟦{A:40}⟧' https://api.example.com/v1",
    ),
];
