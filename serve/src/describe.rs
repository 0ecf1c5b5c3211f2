//! Completes the OpenAPI description. Each route describes its own path, method, body and answer. From these, this
//! module derives the parts that many routes share: authentication, `If-Match`, and refusals.

use std::collections::BTreeMap;

use utoipa::openapi::path::{Operation, Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{Object, Schema, SchemaType, Type};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{Components, ContentBuilder, OpenApi, Ref, RefOr, Response, ResponseBuilder};

/// The properties of a route that decide how it can be refused.
struct Has {
    token: bool,
    id: bool,
    command: bool,
    store: bool,
}

/// A status code, its description, and a function that selects the routes that can return this status.
type Refusal = (u16, &'static str, fn(&Has) -> bool);

const REFUSALS: &[Refusal] = &[
    (400, "The request cannot be read", |_| true),
    (401, "The token is missing or wrong", |has| has.token),
    (
        403,
        "The page's origin is not allowed, or the store is read-only",
        |_| true,
    ),
    (404, "There is no such workflow or run", |has| {
        has.id || has.command
    }),
    (408, "The request took too long", |_| true),
    (
        409,
        "The recorded state does not allow the command: `rule` is the name of the violated rule",
        |has| has.command,
    ),
    (
        412,
        "The workflow changed: its version differs from `If-Match`",
        |has| has.command,
    ),
    (413, "The body is too large", |_| true),
    (415, "The body is not JSON", |has| has.command),
    (
        421,
        "The server does not accept requests for that host",
        |_| true,
    ),
    (429, "Too many requests from one peer", |_| true),
    (500, "The store is damaged or unusable", |has| has.store),
    (503, "The store is busy, or does not answer", |has| {
        has.store
    }),
    (507, "The store has no room left", |has| has.command),
];

/// Adds authentication, `If-Match` and refusals to the description.
pub(crate) fn complete(document: &mut OpenApi) {
    let components = document.components.get_or_insert_with(Components::new);
    for (name, scheme) in schemes() {
        components.security_schemes.insert(name.to_owned(), scheme);
    }
    for (status, about, _) in REFUSALS {
        let response = RefOr::T(problem(about));
        components.responses.insert(status.to_string(), response);
    }
    document.security = Some(vec![needs(BEARER)]);
    for (path, item) in &mut document.paths.paths {
        let is_server = matches!(&**path, "/health" | "/openapi.json");
        let mut has = Has {
            token: path != "/health",
            id: path.contains("{id}"),
            command: false,
            store: !is_server || path == "/health",
        };
        if let Some(operation) = &mut item.get {
            if path.ends_with("/events/stream") {
                operation.security = Some(vec![needs(BEARER), needs(IN_ADDRESS)]);
            }
            if path.ends_with("/events/ws") {
                let all = [BEARER, IN_ADDRESS, PROTOCOL].map(needs);
                operation.security = Some(all.to_vec());
            }
            if !has.token {
                operation.security = Some(Vec::new());
            }
            describe(operation, &has);
        }
        if let Some(operation) = &mut item.post {
            has.command = true;
            let parameters = operation.parameters.get_or_insert_default();
            parameters.push(if_match());
            describe(operation, &has);
        }
    }
}

fn describe(operation: &mut Operation, has: &Has) {
    for (status, _, may) in REFUSALS {
        if may(has) {
            let shared = Ref::new(format!("#/components/responses/{status}"));
            let responses = &mut operation.responses.responses;
            responses
                .entry(status.to_string())
                .or_insert(RefOr::Ref(shared));
        }
    }
    for parameter in operation.parameters.iter_mut().flatten() {
        without_null(parameter);
        if parameter.parameter_in == ParameterIn::Path {
            parameter.schema = Some(RefOr::T(Schema::Object(id())));
        }
    }
}

fn problem(about: &str) -> Response {
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name("Problem")))
        .build();
    ResponseBuilder::new()
        .description(about)
        .content("application/problem+json", content)
        .build()
}

/// Removes null from a parameter's schema: a parameter in an address is present or absent.
fn without_null(parameter: &mut Parameter) {
    if let Some(RefOr::T(Schema::Object(object))) = &mut parameter.schema
        && let SchemaType::Array(types) = &mut object.schema_type
    {
        types.retain(|of| *of != Type::Null);
        if let [one] = &types[..] {
            object.schema_type = SchemaType::Type(one.clone());
        }
    }
}

/// Returns the schema of an id in a path: a whole id, the beginning of an id, or `latest`.
fn id() -> Object {
    let mut id = Object::with_type(SchemaType::Type(Type::String));
    id.pattern = Some("^[A-Za-z0-9-]{1,64}$".to_owned());
    id
}

fn if_match() -> Parameter {
    let mut version = Object::with_type(SchemaType::Type(Type::String));
    version.pattern = Some("^\"[0-9]{1,18}\"$".to_owned());
    ParameterBuilder::new()
        .name("If-Match")
        .parameter_in(ParameterIn::Header)
        .description(Some(
            "The `ETag` of the workflow that was read; if the workflow changed since, the command is refused with 412",
        ))
        .schema(Some(Schema::Object(version)))
        .build()
}

const BEARER: &str = "bearer";
const IN_ADDRESS: &str = "in_address";
const PROTOCOL: &str = "websocket_protocol";

fn needs(scheme: &str) -> SecurityRequirement {
    SecurityRequirement::new(scheme, [""; 0])
}

fn schemes() -> BTreeMap<&'static str, SecurityScheme> {
    let key = |name, about| ApiKeyValue::with_description(name, about);
    let of_address = key(
        "access_token",
        "The token; accepted only by the two streams of events",
    );
    let of_protocol = key(
        "Sec-WebSocket-Protocol",
        "`bearer.TOKEN` as one of the protocols; accepted only by the two streams of events",
    );
    BTreeMap::from([
        (
            BEARER,
            SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)),
        ),
        (
            IN_ADDRESS,
            SecurityScheme::ApiKey(ApiKey::Query(of_address)),
        ),
        (
            PROTOCOL,
            SecurityScheme::ApiKey(ApiKey::Header(of_protocol)),
        ),
    ])
}
