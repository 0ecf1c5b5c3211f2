//! Planted secrets of code hosting, package registries, builds and developer tools.

use super::Kind;

pub(crate) const KINDS: &[Kind] = &[
    (
        "github-personal",
        "docs.github.com, About authentication; github.blog 2021-04-05",
        "⟦ghp_{A:36}⟧",
    ),
    (
        "github-oauth",
        "github.blog 2021-03-31, token formats",
        "⟦gho_{A:36}⟧",
    ),
    (
        "github-user-to-server",
        "github.blog 2021-03-31, token formats",
        "⟦ghu_{A:36}⟧",
    ),
    (
        "github-server-to-server",
        "github.blog 2021-03-31, token formats",
        "⟦ghs_{A:36}⟧",
    ),
    (
        "github-refresh",
        "github.blog 2021-03-31, token formats",
        "⟦ghr_{A:76}⟧",
    ),
    (
        "github-fine-grained",
        "docs.github.com, fine-grained personal access tokens",
        "⟦github_pat_{A:22}_{A:59}⟧",
    ),
    (
        "gitlab-personal",
        "docs.gitlab.com/security/tokens, Token prefixes",
        "⟦glpat-{w:20}⟧",
    ),
    (
        "gitlab-personal-routable",
        "docs.gitlab.com, routable tokens",
        "⟦glpat-{w:27}.01.{a:9}⟧",
    ),
    (
        "gitlab-deploy",
        "docs.gitlab.com/security/tokens, Token prefixes",
        "⟦gldt-{w:20}⟧",
    ),
    (
        "gitlab-runner",
        "docs.gitlab.com/security/tokens, Token prefixes",
        "⟦glrt-{w:20}⟧",
    ),
    (
        "gitlab-job",
        "docs.gitlab.com/security/tokens, Token prefixes",
        "⟦glcbt-64_{w:20}⟧",
    ),
    (
        "gitlab-trigger",
        "docs.gitlab.com/security/tokens, Token prefixes",
        "⟦glptt-{h:40}⟧",
    ),
    (
        "gitlab-feed",
        "docs.gitlab.com/security/tokens, Token prefixes",
        "⟦glft-{w:20}⟧",
    ),
    (
        "gitlab-mail",
        "docs.gitlab.com/security/tokens, Token prefixes",
        "⟦glimt-{w:25}⟧",
    ),
    (
        "gitlab-agent",
        "docs.gitlab.com/security/tokens, Token prefixes",
        "⟦glagent-{w:50}⟧",
    ),
    (
        "gitlab-oauth-secret",
        "docs.gitlab.com/security/tokens, Token prefixes",
        "⟦gloas-{w:64}⟧",
    ),
    (
        "gitlab-scim",
        "docs.gitlab.com/security/tokens, Token prefixes",
        "⟦glsoat-{w:20}⟧",
    ),
    (
        "gitlab-flags",
        "docs.gitlab.com/security/tokens, Token prefixes",
        "⟦glffct-{w:20}⟧",
    ),
    (
        "gitlab-registration",
        "docs.gitlab.com, runner registration tokens",
        "⟦GR1348941{w:20}⟧",
    ),
    (
        "bitbucket-app",
        "support.atlassian.com, app passwords",
        "⟦ATBB{A:32}⟧",
    ),
    (
        "atlassian-api",
        "support.atlassian.com, API tokens",
        "⟦ATATT3xFfGF0{w:171}={H:8}⟧",
    ),
    (
        "gitea-env",
        "docs.gitea.com, access tokens",
        "GITEA_TOKEN=⟦{h:40}⟧",
    ),
    (
        "npm",
        "docs.npmjs.com, access tokens; github.blog npm token format",
        "⟦npm_{A:36}⟧",
    ),
    (
        "npmrc-legacy",
        "docs.npmjs.com, npmrc",
        "//registry.npmjs.org/:_authToken=⟦{uuid:1}⟧",
    ),
    (
        "pypi",
        "pypi.org/help, API tokens",
        "⟦pypi-AgEIcHlwaS5vcmc{w:150}⟧",
    ),
    (
        "rubygems",
        "guides.rubygems.org, API key",
        "⟦rubygems_{h:48}⟧",
    ),
    (
        "crates-io",
        "doc.rust-lang.org/cargo, registry token; crates.io",
        "⟦cio{A:32}⟧",
    ),
    (
        "nuget",
        "learn.microsoft.com/nuget, API keys",
        "⟦oy2{a:43}⟧",
    ),
    (
        "clojars",
        "github.com/clojars, deploy tokens",
        "⟦CLOJARS_{a:60}⟧",
    ),
    (
        "docker-hub",
        "docs.docker.com, personal access tokens",
        "⟦dckr_pat_{w:27}⟧",
    ),
    (
        "docker-organisation",
        "docs.docker.com, organization access tokens",
        "⟦dckr_oat_{w:32}⟧",
    ),
    (
        "artifactory",
        "jfrog.com/help, API key; gitleaks",
        "⟦AKCp{A:69}⟧",
    ),
    (
        "artifactory-reference",
        "jfrog.com/help, reference tokens; gitleaks",
        "⟦cmVmd{A:59}⟧",
    ),
    (
        "circleci",
        "circleci.com/docs, personal API tokens",
        "⟦CCIPAT_{A:22}_{h:40}⟧",
    ),
    (
        "buildkite",
        "buildkite.com/docs, API access tokens",
        "⟦bkua_{h:40}⟧",
    ),
    ("travis-env", "docs.travis-ci.com", "TRAVIS_TOKEN=⟦{A:22}⟧"),
    (
        "terraform-cloud",
        "developer.hashicorp.com/terraform, API tokens",
        "⟦{A:14}.atlasv1.{A:67}⟧",
    ),
    ("pulumi", "pulumi.com/docs, access tokens", "⟦pul-{h:40}⟧"),
    (
        "sonarqube",
        "docs.sonarsource.com, user tokens",
        "⟦squ_{h:40}⟧",
    ),
    (
        "sonarqube-project",
        "docs.sonarsource.com, project tokens",
        "⟦sqp_{h:40}⟧",
    ),
    (
        "sourcegraph",
        "sourcegraph.com/docs, access tokens",
        "⟦sgp_{h:16}_{h:40}⟧",
    ),
    (
        "snyk-env",
        "docs.snyk.io, SNYK_TOKEN",
        "SNYK_TOKEN=⟦{uuid:1}⟧",
    ),
    (
        "postman",
        "learning.postman.com, API keys",
        "⟦PMAK-{h:24}-{h:34}⟧",
    ),
    ("prefect", "docs.prefect.io, API keys", "⟦pnu_{A:36}⟧"),
    (
        "harness",
        "developer.harness.io, API keys",
        "⟦pat.{w:22}.{A:24}.{A:20}⟧",
    ),
    ("octopus", "octopus.com/docs, API keys", "⟦API-{U:26}⟧"),
    (
        "doppler",
        "docs.doppler.com, token formats",
        "⟦dp.pt.{A:43}⟧",
    ),
    (
        "doppler-service",
        "docs.doppler.com, token formats",
        "⟦dp.st.prd.{A:43}⟧",
    ),
    ("infracost", "infracost.io/docs", "⟦ico-{A:32}⟧"),
    (
        "linear",
        "linear.app/developers, API keys",
        "⟦lin_api_{A:40}⟧",
    ),
    ("readme", "docs.readme.com, API keys", "⟦rdme_{a:70}⟧"),
    (
        "figma",
        "figma.com/developers, personal access tokens",
        "⟦figd_{w:40}⟧",
    ),
    (
        "sentry-user",
        "docs.sentry.io, auth tokens",
        "⟦sntryu_{h:64}⟧",
    ),
    (
        "sentry-organisation",
        "docs.sentry.io, organization tokens",
        "⟦sntrys_eyJpYXQiO{A:120}_{b:43}⟧",
    ),
    (
        "grafana-service",
        "grafana.com/docs, service account tokens",
        "⟦glsa_{A:32}_{h:8}⟧",
    ),
    (
        "grafana-cloud",
        "grafana.com/docs, access policies",
        "⟦glc_{A:100}⟧",
    ),
    (
        "newrelic-user",
        "docs.newrelic.com, API keys",
        "⟦NRAK-{U:27}⟧",
    ),
    (
        "newrelic-license",
        "docs.newrelic.com, license key",
        "⟦{h:36}NRAL⟧",
    ),
    (
        "dynatrace",
        "docs.dynatrace.com, token format",
        "⟦dt0c01.{32:24}.{32:64}⟧",
    ),
    (
        "honeycomb-env",
        "docs.honeycomb.io",
        "HONEYCOMB_API_KEY=⟦{A:22}⟧",
    ),
    (
        "datadog-env",
        "docs.datadoghq.com, API keys",
        "DD_API_KEY=⟦{h:32}⟧",
    ),
    (
        "launchdarkly",
        "docs.launchdarkly.com, SDK keys",
        "⟦sdk-{uuid:1}⟧",
    ),
    (
        "rootly",
        "gitleaks; GitHub supported secret scanning patterns",
        "⟦rootly_{h:64}⟧",
    ),
];
