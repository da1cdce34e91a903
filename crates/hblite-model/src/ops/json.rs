//! Values as JSON, behind the feature `serde`.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::value::unreadable;
use super::{Put, RowResult};
use crate::error::{Error, Result};

impl Put {
    /// Sets a column to a value, encoded as JSON. Needs the feature `serde`.
    ///
    /// ```
    /// # use hblite_model as hblite;
    /// use hblite::Put;
    /// let put = Put::new("u1").add_json("info", "tags", &["admin", "writer"])?;
    /// let cell = put.as_mutation().cells().get(0).expect("a cell");
    /// assert_eq!(cell.value(), br#"["admin","writer"]"#);
    /// # Ok::<(), hblite::Error>(())
    /// ```
    ///
    /// # Errors
    /// `IllegalArgument` if the value cannot be encoded as JSON.
    pub fn add_json(
        self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
        value: &(impl Serialize + ?Sized),
    ) -> Result<Self> {
        let json = serde_json::to_vec(value).map_err(|error| {
            Error::illegal_argument(format!("a value cannot be written as JSON: {error}"))
                .with_source(error)
        })?;
        Ok(self.add(family, qualifier, json))
    }
}

impl RowResult {
    /// The newest value of a column, decoded from JSON; `None` if the row has no such column. Needs
    /// the feature `serde`.
    ///
    /// # Errors
    /// `IllegalArgument` if the value is not JSON for this type.
    pub fn json<T: DeserializeOwned>(
        &self,
        family: impl AsRef<[u8]>,
        qualifier: impl AsRef<[u8]>,
    ) -> Result<Option<T>> {
        let Some(cell) = self.cell(family, qualifier) else { return Ok(None) };
        serde_json::from_slice(cell.value())
            .map(Some)
            .map_err(|error| unreadable(&cell, &format!("JSON of this type ({error})")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CellBuffer;

    #[test]
    fn structures_come_back() {
        #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        struct User {
            name: String,
            visits: u32,
        }
        let user = User { name: "Ada".to_owned(), visits: 7 };
        let put = Put::new("u1").add_json("f", "user", &user).unwrap().add("f", "x", "no");
        let mut cells = CellBuffer::new();
        put.as_mutation().cells().iter().for_each(|cell| cells.push(&cell));
        let row = RowResult::new(cells);
        assert_eq!(row.json::<User>("f", "user").unwrap(), Some(user));
        assert_eq!(row.json::<User>("f", "none").unwrap(), None);
        assert!(row.json::<User>("f", "x").unwrap_err().message().contains("f:x in row u1"));
    }
}
