package file

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"testing"
	"unicode/utf8"

	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/project/content"
)

const projectID = "prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK"

// FuzzContent checks that packing and unpacking valid content returns the same content.
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
				t.Fatalf("decodeContent(%q, %s) returned the unexpected rule %q", text, encoding, rule)
			}
			return
		}
		if !binary && string(data) != text || binary && base64.StdEncoding.EncodeToString(data) != text {
			t.Fatalf("decodeContent(%q, %s) = %q, which encodes to another text", text, encoding, data)
		}
		packed := packedContent{contentID: "01K9ZQ3V7M8T5XW2ABCDEFGHJK", size: len(data)}
		var err error
		if packed.data, packed.format, err = content.PackFile(data); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		packed.sha256 = sum[:]
		f := File{Size: packed.size, SHA256: packed.sha256, Ref: packed.ref()}
		chunk, err := db.Encode(chunkRecord{packed.data})
		if err != nil {
			t.Fatal(err)
		}
		items := map[db.Key]db.Item{db.ChunkKey(projectID, f.ContentID): chunk}
		unpacked, err := f.content(projectID, items, packed.data)
		if err != nil || !bytes.Equal(unpacked, data) || utf8.Valid(data) != utf8.Valid(unpacked) || !packed.equals(&f) {
			t.Fatalf("content returned %q, %v, want the packed data %q", unpacked, err, data)
		}
	})
}

// FuzzStored decodes arbitrary items. An item must fail to decode, or decode to a record that stays the same when it is
// encoded and decoded again. The content must have the size in the record.
func FuzzStored(f *testing.F) {
	for _, seed := range []string{
		`{"size":{"N":"5"},"sha256":{"B":"LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="},` +
			`"content":{"S":"c"},"chunks":{"N":"1"},"data":{"B":"AGhlbGxv"}}`,
		`{"chunks":{"N":"-1"},"data":{"NULL":true}}`,
		`{"chunks":{"N":"1e9"},"files":{"N":"1.5"}}`,
		`{"sha256":{"S":"LPJNul=="},"createdAt":{"S":""}}`,
		`{"content":{"S":"c"},"expiresAt":{"N":"1763640000"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		item, err := db.ItemFromJSON(data)
		if err != nil {
			return
		}
		slicetest.DecodeStored[Tree](t, item)
		slicetest.DecodeStored[upload](t, item)
		slicetest.DecodeStored[content.Ref](t, item)
		record, ok := slicetest.DecodeStored[File](t, item)
		if !ok {
			return
		}
		items := map[db.Key]db.Item{db.ChunkKey(projectID, record.ContentID): item}
		if data, err := record.content(projectID, items, nil); err == nil && len(data) != record.Size {
			t.Fatalf("got %d bytes of content, want the size in the record, %d", len(data), record.Size)
		}
	})
}
