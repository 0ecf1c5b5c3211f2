//! Finds and judges the host that an HTTP request names, for the workflow server and the viewer's server.

use std::net::IpAddr;

/// Returns the host of a request, with its port. `hosts` are the values of its `Host` headers, with `None` for a value
/// that is not text. `authority` is the host in an absolute address, such as `GET http://localhost:80/`. Returns `None`
/// unless the request has exactly one `Host` header, and no authority or the same one. Programs differ in which of
/// several hosts they use, so a check of one host would prove nothing.
pub fn named_host<'a>(
    hosts: impl IntoIterator<Item = Option<&'a str>>,
    authority: Option<&str>,
) -> Option<&'a str> {
    let mut hosts = hosts.into_iter();
    let host = hosts.next()??;
    let is_one = hosts.next().is_none();
    (is_one && authority.is_none_or(|named| named.eq_ignore_ascii_case(host))).then_some(host)
}

/// Returns whether a host, with or without its port, is a name of loopback: `localhost`, or an address such as `[::1]`.
pub fn is_loopback(host: &str) -> bool {
    let name = without_port(host);
    name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Returns a host's name without its port, and without the brackets of an IPv6 address.
pub fn without_port(host: &str) -> &str {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.chars().all(|c| c.is_ascii_digit()) => name,
        _ => host,
    };
    name.trim_start_matches('[').trim_end_matches(']')
}

/// The port of a host that names none.
pub const HTTP: u16 = 80;

/// Returns the port of a host; 0 if it is no port.
pub fn port_of(host: &str) -> u16 {
    match host.rsplit_once(':') {
        Some((_, port)) if port.chars().all(|c| c.is_ascii_digit()) => {
            port.parse().unwrap_or_default()
        }
        _ => HTTP,
    }
}

/// Returns whether all values of a request's `Origin` headers name pages of the host that the request names. `None`
/// stands for a value that is not text. The scheme is not compared, because a server behind a proxy does not know it.
pub fn all_are_pages_of<'a>(
    host: &str,
    origins: impl IntoIterator<Item = Option<&'a str>>,
) -> bool {
    origins.into_iter().all(|origin| {
        let authority = origin.and_then(|origin| Some(origin.split_once("://")?.1));
        authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_belongs_to_a_host_with_its_port() {
        let own = Some("http://localhost:80");
        assert!(all_are_pages_of("localhost:80", []));
        assert!(all_are_pages_of(
            "LOCALHOST:80",
            [own, Some("https://localhost:80")]
        ));
        for other in [
            Some("http://localhost:81"),
            Some("http://evil"),
            Some("null"),
            None,
        ] {
            assert!(!all_are_pages_of("localhost:80", [own, other]), "{other:?}");
        }
    }

    #[test]
    fn loopback_has_several_names() {
        for host in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1:8737",
            "[::1]",
            "[::1]:80",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "",
            "example.com",
            "localhost.example:80",
            "10.0.0.1",
            "evil@localhost",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn a_request_that_names_two_hosts_names_none() {
        let one = "localhost:80";
        assert_eq!(named_host([Some(one)], None), Some(one));
        assert_eq!(named_host([Some(one)], Some("LOCALHOST:80")), Some(one));
        assert_eq!(named_host([Some(one)], Some("example.com")), None);
        assert_eq!(named_host([Some(one), Some(one)], None), None);
        assert_eq!(named_host([Some(one), None], None), None);
        assert_eq!(named_host([None], None), None);
        assert_eq!(named_host([], Some(one)), None);
    }
}
