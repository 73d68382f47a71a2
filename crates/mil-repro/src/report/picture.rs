//! A picture of a figure as one inline PNG, with the heads of its rows beside it.

use base64::prelude::{BASE64_STANDARD, Engine};

use crate::results::Raster;

use super::html::escape;
use super::raster_text;

/// Pixels between the images and around them.
const GAP: usize = 1;
/// Grey of the gaps: between paper and ink, so that it is neither where a dark page turns the picture into its negative.
const GAP_GREY: u8 = 200;
/// Width on the page that narrow pictures are enlarged towards, in CSS pixels.
const WIDTH: usize = 720;
/// A pixel of an image is at most so many of the page.
const MAX_SCALE: usize = 8;

/// The picture with its title and the heads of its rows.
pub(super) fn of(raster: &Raster) -> String {
    let canvas = Canvas::of(raster);
    let Canvas { width, height, .. } = canvas;
    let scale = (WIDTH / width).clamp(1, MAX_SCALE);
    let heads: String = raster.rows.iter().map(|row| format!("<li>{}</li>", escape(&row.head))).collect();
    // The page makes heads small where rows are low: the width of the picture in heights of a row is what it needs to know.
    let across = width as f64 / (raster.height + GAP) as f64;
    let title = escape(&raster.title);
    format!(
        "<figure class=\"picture\"><figcaption>{title}</figcaption><div class=\"images\"><ul class=\"heads\" style=\"--across: {across:.1}\">{heads}</ul>\
         <img width=\"{}\" height=\"{}\" alt=\"{title}: {}\" src=\"data:image/png;base64,{}\"></div></figure>",
        scale * width,
        scale * height,
        raster_text(raster),
        BASE64_STANDARD.encode(canvas.png())
    )
}

/// Greys line by line from the top left, 0 for black to 255 for white, as a PNG has them.
struct Canvas {
    width: usize,
    height: usize,
    greys: Vec<u8>,
}

impl Canvas {
    /// The images in their rows, a gap around each. Behind the last image of a row that is shorter than others all is gap.
    fn of(raster: &Raster) -> Canvas {
        let n_across = raster.rows.iter().map(|row| row.images.len()).max().unwrap_or(0);
        let (column, row) = (raster.width + GAP, raster.height + GAP);
        let (width, height) = (n_across * column + GAP, raster.rows.len() * row + GAP);
        let mut greys = vec![GAP_GREY; width * height];
        for (row_idx, images) in raster.rows.iter().map(|row| &row.images).enumerate() {
            for (image_idx, image) in images.iter().enumerate() {
                for (line_idx, line) in image.chunks_exact(raster.width).enumerate() {
                    let start = (row_idx * row + GAP + line_idx) * width + image_idx * column + GAP;
                    greys[start..start + raster.width].iter_mut().zip(line).for_each(|(grey, ink)| *grey = 255 - ink);
                }
            }
        }
        Canvas { width, height, greys }
    }

    /// The bytes of a file: eight bits a pixel, without a palette.
    fn png(&self) -> Vec<u8> {
        let side = |length: usize| u32::try_from(length).expect("a picture that fits into memory is not so long");
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, side(self.width), side(self.height));
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        let mut writer = encoder.write_header().expect("memory takes what is written, and the gap alone is a pixel");
        writer.write_image_data(&self.greys).expect("there is a grey for each pixel");
        writer.finish().expect("memory takes what is written");
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::RasterRow;

    fn raster() -> Raster {
        let row = |head: &str, images: Vec<Vec<u8>>| RasterRow { head: head.to_owned(), images };
        let rows = vec![
            row("<first>", vec![vec![0, 1, 2, 3, 4, 5], vec![10, 11, 12, 13, 14, 15]]),
            row("second", vec![vec![250, 251, 252, 253, 254, 255]]),
        ];
        Raster { title: "Atoms & more".to_owned(), width: 3, height: 2, rows }
    }

    #[test]
    fn images_lie_line_by_line_with_a_gap_around_each() {
        const G: u8 = GAP_GREY;
        let Canvas { width, height, greys } = Canvas::of(&raster());
        assert_eq!((width, height), (9, 7));
        let lines: Vec<&[u8]> = greys.chunks(width).collect();
        let expected = [
            [G; 9],
            [G, 255, 254, 253, G, 245, 244, 243, G],
            [G, 252, 251, 250, G, 242, 241, 240, G],
            [G; 9],
            [G, 5, 4, 3, G, G, G, G, G],
            [G, 2, 1, 0, G, G, G, G, G],
            [G; 9],
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn the_page_holds_a_png_that_decodes_to_the_values() {
        let html = of(&raster());
        let (_, rest) = html.split_once("src=\"data:image/png;base64,").unwrap();
        let bytes = BASE64_STANDARD.decode(rest.split('"').next().unwrap()).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut greys = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut greys).unwrap();
        assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Grayscale, png::BitDepth::Eight));
        let canvas = Canvas::of(&raster());
        assert_eq!((info.width, info.height, greys), (9, 7, canvas.greys));
    }

    #[test]
    fn the_heads_are_text_and_the_image_says_what_it_is() {
        let html = of(&raster());
        assert!(html.contains("<li>&lt;first&gt;</li><li>second</li>"), "{html}");
        assert!(html.contains("alt=\"Atoms &amp; more: 3 images in 2 rows, 3 x 2 pixels each\""), "{html}");
        assert!(html.contains("width=\"72\" height=\"56\""), "eight times as large: {html}");
    }

    #[test]
    fn a_wide_picture_is_not_enlarged() {
        let mut wide = raster();
        wide.rows[0].images = vec![vec![0; 6]; 300];
        assert!(of(&wide).contains("width=\"1201\" height=\"7\""));
    }
}
