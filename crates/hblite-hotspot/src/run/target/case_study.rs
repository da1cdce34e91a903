//! A design of a case study, with its own records, tables and queries.

use hblite::{Connection, Durability, Put, Table, TableDescriptor};
use hblite_casestudies::{DataSet, RecordId, SchemaDesign, Session, Trace, TracedRead};
use hblite_rowkey::ErrorKind;

use super::{About, Asked, Opened, Target};
use crate::run::error::RunError;
use crate::study::{BadStudy, Moment};

/// A design of a case study.
pub struct CaseStudyDesign {
    study: Box<dyn hblite_casestudies::CaseStudy>,
    design: Box<dyn SchemaDesign>,
}

impl CaseStudyDesign {
    /// The design with a name.
    ///
    /// # Errors
    /// [`BadStudy`] with the known names.
    pub fn new(study: &str, design: &str) -> Result<Self, BadStudy> {
        let bad = |error: hblite_casestudies::Error| BadStudy(error.to_string());
        let study = hblite_casestudies::study(study).map_err(bad)?;
        let design = study.design(design).map_err(bad)?;
        Ok(Self { study, design })
    }
}

impl From<hblite_casestudies::Error> for RunError {
    fn from(error: hblite_casestudies::Error) -> Self {
        match error {
            hblite_casestudies::Error::Store(error) => Self::Store(error),
            error => Self::Design(error.to_string()),
        }
    }
}

fn id(moment: &Moment) -> RecordId {
    RecordId { seed: moment.seed, index: moment.sequence, entity: moment.entity }
}

impl Target for CaseStudyDesign {
    fn study(&self) -> &str {
        self.study.name()
    }

    fn name(&self) -> &str {
        self.design.name()
    }

    fn key(&self) -> String {
        self.design.pictures().first().cloned().unwrap_or_default()
    }

    fn entities(&self, records: u64) -> u64 {
        self.study.entities(records).max(1)
    }

    fn tables(&self) -> Result<Vec<TableDescriptor>, RunError> {
        Ok(self.design.tables())
    }

    fn natural_splits(&self, regions: usize) -> Result<Option<Vec<Vec<u8>>>, RunError> {
        match self.design.natural_splits(regions) {
            Ok(keys) => Ok(Some(keys)),
            // Salts or buckets that do not fit the regions are refused; for keys that begin
            // otherwise, a sample decides.
            Err(hblite_casestudies::Error::Key(error))
                if error.kind() == ErrorKind::Regions
                    || error.kind() == ErrorKind::FewPlaces
                        && !error.message().contains("a field") =>
            {
                Err(error.into())
            }
            Err(_) => Ok(None),
        }
    }

    fn open(&self, connection: &Connection) -> Result<Box<dyn Opened + '_>, RunError> {
        Ok(Box::new(OpenCaseStudy { target: self, session: self.design.open(connection)? }))
    }
}

struct OpenCaseStudy<'t> {
    target: &'t CaseStudyDesign,
    session: Box<dyn Session>,
}

impl OpenCaseStudy<'_> {
    fn questions_about(
        &self,
        data: DataSet,
        about: &RecordId,
    ) -> Vec<hblite_casestudies::Question> {
        self.target.study.questions(&data, about)
    }
}

impl Opened for OpenCaseStudy<'_> {
    fn tables(&self) -> Vec<&Table> {
        self.session.tables().iter().map(hblite_casestudies::TableReader::table).collect()
    }

    fn puts(&self, moment: &Moment, _value: &[u8], puts: &mut [Vec<Put>]) -> Result<(), RunError> {
        for write in self.session.writes(&id(moment))? {
            if let Some(puts) = puts.get_mut(write.table) {
                puts.push(write.put.with_durability(Durability::SkipWal));
            }
        }
        Ok(())
    }

    fn row(&self, moment: &Moment, key: &mut Vec<u8>) -> Result<(), RunError> {
        let writes = self.session.writes(&id(moment))?;
        let own = writes.iter().find(|write| write.table == 0);
        key.clear();
        key.extend_from_slice(own.map_or(&[], |write| write.put.row()));
        Ok(())
    }

    fn questions(&self) -> Vec<(String, String)> {
        let first = RecordId { seed: 0, index: 0, entity: 0 };
        let data = self.target.study.data(1, 0);
        let questions = self.questions_about(data, &first).into_iter();
        questions.map(|question| (question.name.to_owned(), question.query.to_string())).collect()
    }

    fn ask(&self, question: usize, about: &About<'_>) -> Result<Asked, RunError> {
        let data = self.target.study.data(about.records, about.moment.seed);
        let data = DataSet { entities: about.entities, ..data };
        let questions = self.questions_about(data, &id(&about.moment));
        let mut asked = Asked::default();
        let Some(question) = questions.get(question) else { return Ok(asked) };
        for table in self.session.tables() {
            table.refresh()?;
        }
        let trace = Trace::new();
        match self.session.ask(question, &trace, &mut |_| asked.rows_returned += 1) {
            // A join may find a record whose counterpart is written later in the run.
            Ok(()) | Err(hblite_casestudies::Error::Row { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let cost = trace.cost();
        asked.scans = cost.scans + cost.gets;
        asked.regions = cost.regions;
        asked.rows_read = cost.rows;
        asked.is_full_scan = trace.steps().iter().any(|step| {
            matches!(&step.access, TracedRead::Scan { bounds, .. }
                if bounds.start.is_empty() && bounds.stop.is_empty())
        });
        Ok(asked)
    }
}
