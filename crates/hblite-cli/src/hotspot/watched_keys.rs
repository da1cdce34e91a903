//! Data from servers over HTTP: documents, and from the console of `hblite serve` the sampled keys
//! of a hot region and the adviser's proposals for them.

use hblite_hotspot::watch::Watched;
use serde_json::Value;
use ureq::typestate::WithoutBody;

/// Maximum size of a line of a recording, and of a document from a server.
pub(super) const DOCUMENT_MAX: u64 = 64 << 20;
/// Ranges of keys that are asked for.
const RANGES: usize = 400;

/// The JSON at a URL.
pub(super) fn document(url: &str) -> Result<Value, String> {
    json(url, ureq::get(url))
}

fn json(url: &str, request: ureq::RequestBuilder<WithoutBody>) -> Result<Value, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{url}: {error}");
    let request = request.header("Accept", "application/json");
    let mut response = request.call().map_err(|error| wrong(&error))?;
    let body = response.body_mut().with_config().limit(DOCUMENT_MAX);
    body.read_json().map_err(|error| wrong(&error))
}

/// The hottest range of keys within a region and what other keys would change, in sentences. `url`
/// is that of `/status`.
///
/// # Errors
/// The reason why it is not known.
pub(super) fn sampled(
    url: &str,
    hot: &Watched,
    known: &[(&str, &str)],
) -> Result<Vec<String>, String> {
    let base = url.trim_end_matches("/status");
    let table = hot.table.replace(':', "%3A");
    let url = format!("{base}/console/api/heat?table={table}&metric=writes&rows={RANGES}");
    let heat = document(&url)?;
    let (start, end) = (printed(&hot.start), printed(&hot.end));
    let hottest = hottest(&heat, &start, &end);
    let advice = changes(&format!("{base}/console/api/advice"), &hot.table, known)?;
    Ok(hottest.into_iter().chain(advice).collect())
}

/// What other keys would change. `known` has the design and the queries, if they are known.
fn changes(url: &str, table: &str, known: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let request = ureq::get(url).query("table", table).query_pairs(known.iter().copied());
    let answer = json(url, request.config().http_status_as_error(false).build())?;
    if let Some(reason) = answer["error"].as_str() {
        return Ok(vec![format!("No other key is proposed: {reason}")]);
    }
    let lines = answer["changes"].as_array();
    let lines = lines.ok_or_else(|| format!("{url}: the answer has no changes"))?;
    Ok(lines.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

fn printed(key: &[u8]) -> String {
    hblite::bytes::to_string_binary(key)
}

/// The range with the most writes among those within a region.
fn hottest(heat: &Value, start: &str, end: &str) -> Option<String> {
    let ranges = heat["ranges"].as_array()?;
    let region = ranges.iter().find(|range| range["start"] == start)?["region"].as_u64()?;
    let windows = heat["counts"].as_array()?;
    let writes = |index: usize| -> f64 {
        windows.iter().filter_map(|window| window.get(index)?.as_f64()).sum()
    };
    let own = |index: &usize| ranges[*index]["region"].as_u64() == Some(region);
    let own: Vec<usize> = (0..ranges.len()).filter(own).collect();
    let total: f64 = own.iter().map(|index| writes(*index)).sum();
    let most = *own.iter().max_by(|left, right| writes(**left).total_cmp(&writes(**right)))?;
    if own.len() < 2 || total <= 0.0 {
        return Some("Too few keys of it were sampled to say which of them are hot.".to_owned());
    }
    let text = |name: &str| ranges[most][name].as_str().unwrap_or_default();
    let (from, to) = (text("start"), text("end"));
    let to = if to.is_empty() && end.is_empty() { "the last key" } else { &format!("\"{to}\"") };
    Some(format!(
        "Hot keys, by the sample of hblite serve: {:.0} % of its writes since the server started \
         went to keys from \"{from}\" to {to}.",
        writes(most) / total * 100.0
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_hottest_range_of_the_region_is_named() {
        let range = |start: &str, end: &str, region: u64| {
            json!({
                "start": start,
                "end": end,
                "region": region,
            })
        };
        let heat = json!({
            "ranges": [
                range("", "b", 0),
                range("b", "m", 0),
                range("m", "p", 1),
                range("p", "", 1),
            ],
            "counts": [[9, 0, 1, 2], [9, 0, 1, 4]],
        });
        let text = hottest(&heat, "m", "").unwrap();
        assert!(
            text.contains("75 % of its writes") && text.contains("\"p\" to the last"),
            "{text}"
        );
        let text = hottest(&heat, "", "m").unwrap();
        assert!(text.contains("100 % ") && text.contains("from \"\" to \"b\""), "{text}");
        assert_eq!(hottest(&heat, "x", ""), None);
    }
}
