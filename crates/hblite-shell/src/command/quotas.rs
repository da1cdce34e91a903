//! Quotas. A store has none: they can be listed, and none can be set.

use hblite::{
    Quota, QuotaLimit, QuotaOwner, QuotaScope, Rate, RateUnit, SpaceLimit, SpaceViolationPolicy,
    ThrottleType,
};
use regex::Regex;

use super::{Arguments, CommandResult, Context, Failure};
use crate::value::{Hash, Value};

commands! {
    "set_quota" 0 1, "Limits requests or space, or removes a limit."
        " TYPE => THROTTLE, USER => 'u1', LIMIT => '10req/sec'\n  hbase> set_quota TYPE => \
         THROTTLE, THROTTLE_TYPE => WRITE, TABLE => 't1', LIMIT => '10M/sec'\n  hbase> set_quota \
         TYPE => SPACE, NAMESPACE => 'ns1', LIMIT => '1G', POLICY => NO_INSERTS\n  hbase> \
         set_quota TYPE => SPACE, TABLE => 't1', LIMIT => NONE\n  hbase> set_quota USER => 'u1', \
         GLOBAL_BYPASS => true" set_quota;
    "list_quotas" 0 1, "Lists limits; values of a filter are regular expressions."
        "\n  hbase> list_quotas USER => 'bob.*', TABLE => 't1'" list_quotas;
    "list_quota_table_sizes" 0 1, "Prints the sizes of tables, as the master knows them." ""
        |context, _| {
            context.out.header(&["TABLE", "SIZE"])?;
            let sizes = context.connection.admin().quota_table_sizes()?;
            for (table, size) in &sizes {
                context.out.row_of_two(&table.to_string(), &size.to_string())?;
            }
            context.out.footer(sizes.len() as u64)?;
            Ok(Value::Nil)
        };
    "list_quota_snapshots" 0 1, "Prints the space that tables with a limit use."
        " TABLE => 't1'\n  hbase> list_quota_snapshots REGIONSERVER => 'SERVER_NAME'"
        list_space_usages;
    "list_snapshot_sizes" 0 1, "Prints the sizes of snapshots of tables with a limit." ""
        |context, _| {
            context.out.header(&["SNAPSHOT", "SIZE"])?;
            let sizes = context.connection.admin().snapshot_sizes()?;
            for (snapshot, size) in &sizes {
                context.out.row_of_two(snapshot, &size.to_string())?;
            }
            context.out.footer(sizes.len() as u64)?;
            Ok(Value::Nil)
        };
}

const PACKAGE: &str = "org.apache.hadoop.hbase.quotas";

/// What is left of the options of a command.
struct Options(Hash);

impl Options {
    fn take(&mut self, key: &str) -> Option<Value> {
        self.0.remove(key).filter(|value| !matches!(value, Value::Nil))
    }

    fn text(&mut self, key: &str) -> Option<String> {
        self.take(key).map(|value| value.to_text())
    }

    fn finish(self) -> Result<(), Failure> {
        if self.0.iter().next().is_none() {
            return Ok(());
        }
        let shown = Value::Hash(self.0).inspect();
        Err(Failure::refused(format!("Unexpected arguments: {shown}")))
    }
}

fn set_quota(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let mut options = Options(arguments.hash(0, "Arguments")?);
    let quota = match options.text("TYPE").as_deref() {
        Some("THROTTLE") => throttle(options)?,
        Some("SPACE") => space(options)?,
        Some(other) => {
            return Err(Failure::refused(format!("Invalid TYPE argument. got {other}")));
        }
        None => match options.take("GLOBAL_BYPASS") {
            None => return Err(Failure::refused("Expected TYPE argument")),
            Some(is_on) => {
                let user = options.text("USER");
                let user = user.ok_or_else(|| Failure::refused("Expected USER"))?;
                options.finish()?;
                let owner = QuotaOwner { user: Some(user), ..QuotaOwner::default() };
                let is_on = is_on.to_text().eq_ignore_ascii_case("true");
                Quota { owner, limit: QuotaLimit::BypassGlobals(is_on) }
            }
        },
    };
    match context.connection.admin().set_quota(&quota) {
        Err(error) if error.message().contains("quota support disabled") => {
            let message = "Quota Support disabled. Please enable in configuration.";
            Err(Failure::refused(message))
        }
        done => done.map(|()| Value::Nil).map_err(Failure::Store),
    }
}

/// Whom a limit of requests is for.
fn owner(options: &mut Options) -> Result<QuotaOwner, Failure> {
    let mut owner = QuotaOwner { user: options.text("USER"), ..QuotaOwner::default() };
    if let Some(table) = options.text("TABLE") {
        owner.table = Some(table.parse()?);
    } else if let Some(namespace) = options.text("NAMESPACE") {
        owner.namespace = Some(namespace);
    } else if owner.user.is_none() {
        if options.text("REGIONSERVER").is_none() {
            let message = "One of USER, TABLE, NAMESPACE or REGIONSERVER must be specified";
            return Err(Failure::refused(message));
        }
        // HBase has limits for all region servers only.
        owner.region_server = Some("all".to_owned());
    }
    Ok(owner)
}

fn throttle_type(name: &str) -> Result<ThrottleType, Failure> {
    let unknown = || Failure::refused(format!("No enum constant {PACKAGE}.ThrottleType.{name}"));
    ThrottleType::of_name(name).ok_or_else(unknown)
}

fn throttle(mut options: Options) -> Result<Quota, Failure> {
    let kind = options.text("THROTTLE_TYPE");
    let limit = options.take("LIMIT");
    if limit.as_ref().is_some_and(|limit| limit.to_text() == "NONE") {
        let owner = owner(&mut options)?;
        let kind = kind.as_deref().map(throttle_type).transpose()?;
        if kind.is_none() {
            options.finish()?;
        }
        return Ok(Quota { owner, limit: QuotaLimit::Throttle { kind, rate: None } });
    }
    let limit = limit.ok_or_else(|| Failure::refused("Expected a LIMIT to be provided"))?;
    let limit = limit.to_text().to_lowercase();
    let wrong = || Failure::refused("Invalid throttle limit syntax");
    let (amount, per) = limit.split_once('/').ok_or_else(wrong)?;
    let per = RateUnit::of_name(per);
    let per = per.filter(|per| per.number() >= RateUnit::Second.number()).ok_or_else(wrong)?;
    let unit_at = amount.find(|letter: char| !letter.is_ascii_digit()).ok_or_else(wrong)?;
    let (number, unit) = amount.split_at(unit_at);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let (suffix, amount) = match unit {
        "req" => ("NUMBER", Some(number)),
        "cu" => ("CAPACITY_UNIT", Some(number)),
        unit => ("SIZE", Some(size(number, unit).ok_or_else(wrong)?)),
    };
    let kind = kind.as_deref().unwrap_or("REQUEST");
    let kind = throttle_type(&format!("{kind}_{suffix}"))?;
    let positive = amount.filter(|amount| *amount > 0);
    let amount = positive
        .ok_or_else(|| Failure::refused("Invalid throttle limit, must be greater than 0"))?;
    let scope = options.text("SCOPE").map(|scope| scope.to_uppercase());
    let scope = QuotaScope::of_name(scope.as_deref().unwrap_or("MACHINE")).ok_or_else(|| {
        Failure::refused("Invalid throttle scope, must be either CLUSTER or MACHINE")
    })?;
    let owner = owner(&mut options)?;
    if owner.region_server.is_none() {
        options.finish()?;
    } else if scope == QuotaScope::Cluster {
        let message = "Invalid region server throttle scope, must be MACHINE";
        return Err(Failure::refused(message));
    }
    let rate = Some(Rate { amount, per, scope });
    Ok(Quota { owner, limit: QuotaLimit::Throttle { kind: Some(kind), rate } })
}

/// Bytes; `None` for an unknown unit or too many of them.
fn size(number: u64, unit: &str) -> Option<u64> {
    let shift = ["b", "k", "m", "g", "t", "p"].iter().position(|one| *one == unit)? * 10;
    number.checked_mul(1 << shift).filter(|size| i64::try_from(*size).is_ok())
}

fn space(mut options: Options) -> Result<Quota, Failure> {
    let limit = match options.take("LIMIT") {
        Some(value) if value.to_text() == "NONE" => None,
        limit => {
            let missing = |key: &str| Failure::refused(format!("Expected a {key} to be provided"));
            let limit = limit.ok_or_else(|| missing("LIMIT"))?.to_text().to_lowercase();
            let policy = options.text("POLICY").ok_or_else(|| missing("POLICY"))?;
            let digits = limit.trim_end_matches(|letter: char| !letter.is_ascii_digit());
            let unit = match &limit[digits.len()..] {
                "" | "%" => "b",
                unit => unit,
            };
            let number = digits.parse().ok().and_then(|number| size(number, unit));
            let number = number.ok_or_else(|| Failure::refused("Invalid size limit syntax"))?;
            if number == 0 {
                return Err(Failure::refused("Invalid space limit, must be greater than 0"));
            }
            let policy = SpaceViolationPolicy::of_name(&policy).ok_or_else(|| {
                let name = format!("{PACKAGE}.SpaceViolationPolicy.{policy}");
                Failure::refused(format!("No enum constant {name}"))
            })?;
            Some(SpaceLimit { size_max_bytes: number, policy })
        }
    };
    let owner = match (options.text("TABLE"), options.text("NAMESPACE")) {
        (Some(_), Some(_)) => {
            return Err(Failure::refused("Only one of TABLE or NAMESPACE can be specified."));
        }
        (None, None) => {
            return Err(Failure::refused("One of TABLE or NAMESPACE must be specified."));
        }
        (Some(table), None) => QuotaOwner { table: Some(table.parse()?), ..QuotaOwner::default() },
        (None, namespace) => QuotaOwner { namespace, ..QuotaOwner::default() },
    };
    Ok(Quota { owner, limit: QuotaLimit::Space(limit) })
}

fn list_quotas(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    context.out.header(&["OWNER", "QUOTAS"])?;
    let mut options = Options(arguments.hash(0, "Arguments")?);
    let limit = options.take("LIMIT").map(|limit| super::integer(&limit, "LIMIT")).transpose()?;
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).filter(|limit| *limit > 0);
    let mut pattern = |key: &str| -> Result<Option<Regex>, Failure> {
        let text = options.text(key).filter(|text| !text.is_empty());
        text.map(|text| super::pattern::whole_name(&text)).transpose()
    };
    let (user, table) = (pattern("USER")?, pattern("TABLE")?);
    let namespace = pattern("NAMESPACE")?;
    options.finish()?;
    let matches = |pattern: &Regex, text: Option<&str>| text.is_some_and(|t| pattern.is_match(t));
    let is_wanted = |owner: &QuotaOwner| {
        let name = owner.table.as_ref().map(ToString::to_string);
        let of_table = table.as_ref().map(|pattern| matches(pattern, name.as_deref()));
        let of_namespace =
            namespace.as_ref().map(|pattern| matches(pattern, owner.namespace.as_deref()));
        let of_either = match (of_table, of_namespace) {
            (None, None) => true,
            (of_table, of_namespace) if user.is_some() => {
                of_table.unwrap_or(false) || of_namespace.unwrap_or(false)
            }
            (of_table, of_namespace) => of_table.or(of_namespace).unwrap_or(true),
        };
        let of_user = match &user {
            Some(pattern) => matches(pattern, owner.user.as_deref()),
            // What is given for tables and namespaces alone is not for users.
            None => owner.user.is_none() || (of_table.is_none() && of_namespace.is_none()),
        };
        of_user && of_either
    };
    let mut count = 0;
    for quota in context.connection.admin().list_quotas()? {
        if is_wanted(&quota.owner) && limit.is_none_or(|limit| count < limit) {
            context.out.row_of_two(&quota.owner.to_string(), &quota.to_string())?;
            count += 1;
        }
    }
    context.out.footer(count as u64)?;
    Ok(Value::Nil)
}

fn list_space_usages(context: &mut Context<'_>, arguments: Arguments) -> CommandResult {
    let mut options = Options(arguments.hash(0, "Arguments")?);
    context.out.row(" TABLE USAGE LIMIT IN_VIOLATION POLICY")?;
    let server = options.text("REGIONSERVER");
    let (table, namespace) = (options.text("TABLE"), options.text("NAMESPACE"));
    let mut count = 0;
    for usage in context.connection.admin().space_usages(server.as_deref())? {
        let is_wanted = table.as_deref().is_none_or(|table| usage.table.qualifier() == table)
            && namespace.as_deref().is_none_or(|name| usage.table.namespace() == name);
        if !is_wanted {
            continue;
        }
        let policy = usage.violation.map_or("None", SpaceViolationPolicy::name);
        context.out.row(&format!(
            " {} {} {} {} {policy}",
            usage.table,
            usage.used_bytes,
            usage.size_max_bytes,
            usage.violation.is_some()
        ))?;
        count += 1;
    }
    context.out.footer(count)?;
    Ok(Value::Nil)
}
