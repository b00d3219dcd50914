//! Clusters of vectors. Rows of codes by cluster hold vectors that are near each other, and each has its centroid beside
//! it. So a search of a large project reads the rows whose centroids are near the query, and not all.
//!
//! Two levels of k-means over vectors of length 1 (spherical k-means, Dhillon and Modha 2001) divide a sample. Each
//! vector joins the nearest cluster of the nearest group, which takes two square roots of comparisons instead of one
//! for each cluster.

use crate::index::vector_code::{Code, CodePacker, CodeRow, NearestCodes, VectorKind, codes_beside};
use crate::values::cosine::{dot, normalized};
use crate::values::interrupt;

/// Vectors of a sample for each cluster that is learned from it. With 16, learning took twice as long, and recall was the
/// same.
pub const SAMPLE: usize = 8;
/// Rows of a cluster, on average. Reading a twelfth of the rows of 200,000 recombined vectors found .968 of the 60 nearest
/// with 8, .977 with 4, .994 with 2, and .995 with 1, which leaves more rows half empty.
const ROWS: usize = 2;
/// How often vectors are assigned to the nearest centroid.
const PASSES: usize = 8;

/// The centroids of clusters, in groups.
#[derive(Clone, Debug)]
pub struct Clusters {
    groups: Vec<Group>,
}

#[derive(Clone, Debug)]
struct Group {
    centroid: Vec<f32>,
    /// Number of its first cluster.
    first: usize,
    centroids: Vec<Vec<f32>>,
}

impl Clusters {
    /// How many clusters a number of vectors of a dimension is divided into; `None` if they are too long.
    pub fn wanted(vectors: usize, dimension: usize) -> Option<usize> {
        let in_row = codes_beside(dimension)?;
        Some((vectors / (ROWS * in_row)).max(1))
    }

    /// Divides a sample into about as many clusters as wanted; `None` if it is empty.
    pub fn learn(sample: &[Vec<f32>], wanted: usize) -> Option<Self> {
        let sample: Vec<Vec<f32>> = sample.iter().map(|vector| normalized(vector)).collect();
        let all: Vec<&[f32]> = sample.iter().map(Vec::as_slice).collect();
        let mut first = 0;
        let groups = k_means(&all, wanted.isqrt()).into_iter().map(|(centroid, members)| {
            let share = (members.len() * wanted).div_ceil(all.len().max(1));
            let centroids = k_means(&members, share).into_iter().map(|(centroid, _)| centroid);
            let group = Group {
                centroid,
                first,
                centroids: centroids.collect(),
            };
            first += group.centroids.len();
            group
        });
        let groups: Vec<Group> = groups.collect();
        (!groups.is_empty()).then_some(Self { groups })
    }

    fn count(&self) -> usize {
        self.groups.iter().map(|group| group.centroids.len()).sum()
    }

    /// The number of the cluster that a vector joins.
    fn of(&self, vector: &[f32]) -> usize {
        let groups = self.groups.iter().map(|group| group.centroid.as_slice());
        let group = &self.groups[nearest(groups, vector)];
        group.first + nearest(group.centroids.iter().map(Vec::as_slice), vector)
    }
}

/// The place of the nearest centroid, 0 if there is none.
fn nearest<'a>(centroids: impl Iterator<Item = &'a [f32]>, vector: &[f32]) -> usize {
    let similarities = centroids.map(|centroid| dot(centroid, vector)).enumerate();
    similarities
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map_or(0, |(place, _)| place)
}

/// Divides vectors into up to `wanted` clusters, none of them empty: their centroids and members.
fn k_means<'a>(vectors: &[&'a [f32]], wanted: usize) -> Vec<(Vec<f32>, Vec<&'a [f32]>)> {
    let wanted = wanted.clamp(1, vectors.len().max(1));
    let first = (0..wanted).filter_map(|place| vectors.get(place * vectors.len() / wanted));
    let mut clusters: Vec<(Vec<f32>, Vec<&[f32]>)> = first.map(|vector| (vector.to_vec(), Vec::new())).collect();
    for _ in 0..PASSES {
        for (_, members) in &mut clusters {
            members.clear();
        }
        for vector in vectors {
            interrupt::check();
            let place = nearest(clusters.iter().map(|(centroid, _)| centroid.as_slice()), vector);
            clusters[place].1.push(vector);
        }
        clusters.retain(|(_, members)| !members.is_empty());
        for (centroid, members) in &mut clusters {
            *centroid = normalized(&sum(members));
        }
    }
    clusters
}

fn sum(vectors: &[&[f32]]) -> Vec<f32> {
    let mut sum = vec![0.0; vectors.first().map_or(0, |vector| vector.len())];
    for vector in vectors {
        add(&mut sum, vector);
    }
    sum
}

fn add(sum: &mut [f32], vector: &[f32]) {
    for (sum, component) in sum.iter_mut().zip(vector) {
        *sum += component;
    }
}

/// A row of codes with its centroid.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterRow {
    /// Its codes.
    pub row: CodeRow,
    /// The code of its centroid, in the format of a row with one code.
    pub centroid: Vec<u8>,
}

/// Packs codes into rows by cluster.
#[derive(Debug)]
pub struct ClusterPacker {
    clusters: Clusters,
    /// The row of each cluster that is being filled.
    open: Vec<OpenRow>,
    rows: Vec<ClusterRow>,
}

#[derive(Clone, Debug, Default)]
struct OpenRow {
    codes: Vec<(i64, i32, Code)>,
    sum: Vec<f32>,
}

impl ClusterPacker {
    /// A packer without codes.
    pub fn new(clusters: Clusters) -> Self {
        Self {
            open: vec![OpenRow::default(); clusters.count()],
            clusters,
            rows: Vec::new(),
        }
    }

    /// Adds the code of a section's or question's vector.
    pub fn push(&mut self, document: i64, chunk: i32, vector: &[f32]) {
        let vector = normalized(vector);
        let open = &mut self.open[self.clusters.of(&vector)];
        open.sum.resize(vector.len(), 0.0);
        add(&mut open.sum, &vector);
        open.codes.push((document, chunk, Code::of(&vector)));
        if codes_beside(vector.len()).is_none_or(|most| open.codes.len() >= most) {
            self.rows.extend(open.take());
        }
    }

    /// The rows that are full since the last call.
    pub fn take_full(&mut self) -> Vec<ClusterRow> {
        std::mem::take(&mut self.rows)
    }

    /// The other rows.
    pub fn finish(mut self) -> Vec<ClusterRow> {
        for open in &mut self.open {
            self.rows.extend(open.take());
        }
        self.rows
    }
}

impl OpenRow {
    /// The codes as a row; as several if documents are too far from each other for one.
    fn take(&mut self) -> impl Iterator<Item = ClusterRow> + use<> {
        let Self { codes, sum } = std::mem::take(self);
        let mut packer = CodePacker::default();
        for (document, chunk, code) in &codes {
            packer.push(*document, *chunk, code);
        }
        let mut centroid = CodePacker::default();
        centroid.push(0, 0, &Code::of(&normalized(&sum)));
        let centroid = centroid.finish().pop().map(|row| row.bytes).unwrap_or_default();
        let rows = packer.finish().into_iter();
        rows.map(move |row| ClusterRow {
            row,
            centroid: centroid.clone(),
        })
    }
}

/// Rows by the similarity of their centroids to a query.
#[derive(Debug)]
pub struct NearestRows {
    nearest: NearestCodes,
}

impl Default for NearestRows {
    fn default() -> Self {
        Self {
            nearest: NearestCodes::new(usize::MAX, VectorKind::Text),
        }
    }
}

impl NearestRows {
    /// What compares centroids, with the number of the row as the project.
    pub fn codes(&mut self) -> &mut NearestCodes {
        &mut self.nearest
    }

    /// The numbers of rows, nearest first.
    pub fn finish(self) -> impl Iterator<Item = i64> {
        self.nearest.finish().into_iter().map(|id| id.document.project)
    }
}

#[cfg(test)]
mod tests;
