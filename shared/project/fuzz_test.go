package project

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/project/content"
)

// FuzzSlug: every name has a slug, which is its own slug and has a key.
func FuzzSlug(f *testing.F) {
	for _, seed := range []string{"Café Déjà", "Ada’s App", "项目 App 2", "", "\xff", "ǅ", "ﷺ", "K", "İi", "--a--"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		slug := slugOf(name)
		if !slugPattern.MatchString(slug) || len(slug) > maxSlugBase || slugOf(slug) != slug || db.SlugKey("ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK", slug).IsZero() {
			t.Fatalf("%q has the slug %q", name, slug)
		}
	})
}

// FuzzContent: a content that is taken is kept byte for byte, and what is taken for text is text.
func FuzzContent(f *testing.F) {
	f.Add("hello\r\n", false)
	f.Add("aGVsbG8=", true)
	f.Add("aGVsbG8", true)
	f.Add("\x00\xff", false)
	f.Fuzz(func(t *testing.T, text string, binary bool) {
		encoding := UTF8
		if binary {
			encoding = Base64
		}
		data, rule := decodeContent(text, encoding)
		if rule != "" {
			if binary == (rule != ruleBase64) && len(text) < content.MaxBytes {
				t.Fatalf("%q: %s", text, rule)
			}
			return
		}
		if !binary && string(data) != text || binary && toBase64(data) != text {
			t.Fatalf("%q is %q", text, data)
		}
		packed, err := packContent(data, encoding)
		if err != nil {
			t.Fatal(err)
		}
		record := fileRecord{Size: packed.size, SHA256: packed.sha256, Chunks: len(packed.chunks), Content: "c"}
		kept, err := file{fileRecord: record}.join(map[string][][]byte{"c": packed.chunks})
		if err != nil || !bytes.Equal(kept, data) || utf8.Valid(data) != utf8.Valid(kept) || !packed.isContentOf(record) {
			t.Fatalf("%q is kept as %q, %v", text, kept, err)
		}
	})
}

// FuzzStored reads items that this version did not write: either they are records, which are written as they were read, or errors;
// a file's content is what its record says, or an error.
func FuzzStored(f *testing.F) {
	for _, seed := range []string{
		`{"id":{"S":"prj_1"},"visibility":{"S":"public"},"createdAt":{"S":"2026-01-31T08:15:30.123Z"},"revision":{"N":"3"}}`,
		`{"size":{"N":"5"},"sha256":{"B":"LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="},"content":{"S":"c"},"chunks":{"N":"1"},"data":{"B":"AGhlbGxv"}}`,
		`{"chunks":{"N":"-1"},"data":{"NULL":true},"path":{"S":"/a"},"line":{"N":"0"}}`, `{"chunks":{"N":"1e9"},"files":{"N":"1.5"}}`,
		`{"sha256":{"S":"LPJNul=="},"path":{"NULL":true},"createdAt":{"S":""}}`,
	} {
		f.Add([]byte(seed))
	}
	const projectID = "prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	f.Fuzz(func(t *testing.T, data []byte) {
		item, err := db.ItemFromJSON(data)
		if err != nil {
			return
		}
		slicetest.Stored[projectRecord](t, item)
		slicetest.Stored[treeRecord](t, item)
		slicetest.Stored[slugRecord](t, item)
		slicetest.Stored[versionRecord](t, item)
		slicetest.Stored[commentRecord](t, item)
		slicetest.Stored[contentRef](t, item)
		if record, ok := slicetest.Stored[fileRecord](t, item); ok {
			found := map[db.Key]db.Item{db.ChunkKey(projectID, record.Content, 0): item}
			it := file{fileRecord: record}
			chunks, err := chunksOf(projectID, it, found)
			if err != nil {
				return
			}
			if whole, err := it.join(map[string][][]byte{record.Content: chunks}); err == nil && len(whole) != record.Size {
				t.Fatalf("%+v is %q", record, whole)
			}
		}
	})
}
