//! Any bytes as header blocks, one after the other on one table: no panic, no runaway work.

#![no_main]

use libfuzzer_sys::fuzz_target;
use transport::h2::hpack::{Decoder, literal};

fuzz_target!(|input: &[u8]| {
    let Some((cut, input)) = input.split_first() else { return };
    let mut decoder = Decoder::new(512);
    let mut scratch = Vec::new();
    for block in input.chunks(usize::from(*cut).max(1)) {
        let mut fields = Vec::new();
        let result = decoder.decode(block, &mut scratch, |field| {
            // From the block, at most 8/5 of it, or from the table.
            assert!(field.name.len().max(field.value.len()) <= block.len() * 8 / 5 + 512);
            fields.push((field.name.to_vec(), field.value.to_vec()));
            field.mark
        });
        if result.is_err() {
            return;
        }
        // What was read is read again when it is written the simplest way.
        let (mut written, mut again) = (Vec::new(), Vec::new());
        fields.iter().for_each(|(name, value)| literal(&mut written, name, value));
        let plain = Decoder::new(0).decode(&written, &mut scratch, |field| {
            again.push((field.name.to_vec(), field.value.to_vec()));
            field.mark
        });
        assert!(plain.is_ok() && again == fields);
    }
});
