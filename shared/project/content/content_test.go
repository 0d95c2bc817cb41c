package content_test

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"devplatform/shared/project/content"
)

// randomBytes returns n bytes that cannot be compressed.
func randomBytes(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.Read(data)
	return data
}

func pack(t testing.TB, data []byte) [][]byte {
	t.Helper()
	chunks, err := content.Pack(data)
	if err != nil {
		t.Fatal(err)
	}
	return chunks
}

func TestPackAndJoin(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]byte{
		"no bytes":                      {},
		"one byte":                      {0},
		"text":                          []byte(strings.Repeat("export const x = 1\n", 1000)),
		"maximum size of zeros":         make([]byte, content.MaxBytes),
		"random bytes":                  randomBytes(4096),
		"random bytes of one chunk":     randomBytes(content.MaxChunk - 1),
		"random bytes of two chunks":    randomBytes(content.MaxChunk),
		"maximum size of random bytes":  randomBytes(content.MaxBytes),
		"half random bytes, half zeros": append(randomBytes(content.MaxBytes/2), make([]byte, content.MaxBytes/2)...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chunks := pack(t, data)
			sum := 0
			for _, chunk := range chunks {
				sum += len(chunk)
				if len(chunk) == 0 || len(chunk) > content.MaxChunk {
					t.Errorf("got a chunk of %d bytes, want 1 to %d", len(chunk), content.MaxChunk)
				}
			}
			if sum > len(data)+1 || len(chunks) > content.MaxChunks {
				t.Errorf("Pack of %d bytes returned %d bytes in %d chunks, want at most one byte more in at most %d chunks",
					len(data), sum, len(chunks), content.MaxChunks)
			}
			got, err := content.Join(chunks)
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("Join returned %d bytes, error %v, want the packed %d bytes", len(got), err, len(data))
			}
		})
	}
}

func TestConcurrentPackAndJoin(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			data := append(randomBytes(10_000), bytes.Repeat([]byte{byte(i)}, 10_000)...)
			chunks, err := content.Pack(data)
			if err != nil {
				t.Error(err)
				return
			}
			if got, err := content.Join(chunks); err != nil || !bytes.Equal(got, data) {
				t.Errorf("Join returned different bytes or error %v, want the packed bytes", err)
			}
		})
	}
	wg.Wait()
}

func TestJoinRejectsCorruptChunks(t *testing.T) {
	t.Parallel()
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer encoder.Close()
	chunks := pack(t, append(randomBytes(content.MaxChunk*2), make([]byte, 200_000)...))
	bomb := append([]byte{1}, encoder.EncodeAll(make([]byte, 64<<20), nil)...)
	for name, corrupt := range map[string][][]byte{
		"empty chunk":         {{}},
		"unknown format byte": {{7, 1, 2}},
		"not zstd":            {{1, 'x', 'y', 'z'}},
		"first chunk missing": chunks[1:],
		"last chunk missing":  chunks[:len(chunks)-1],
		"chunks swapped":      {chunks[1], chunks[0], chunks[2]},
		"decompression bomb":  {bomb},
		"too large":           {append([]byte{0}, make([]byte, content.MaxBytes+1)...)},
	} {
		if data, err := content.Join(corrupt); !errors.Is(err, content.ErrCorrupt) {
			t.Errorf("%s: Join returned %d bytes, error %v, want ErrCorrupt", name, len(data), err)
		}
	}
}

// Join never returns more than MaxBytes. The size that a compressed frame declares does not matter.
func FuzzJoin(f *testing.F) {
	f.Add([]byte{}, []byte{})
	f.Add([]byte{0, 1, 2}, []byte{3})
	for _, data := range [][]byte{[]byte("hello hello hello hello hello"), randomBytes(100), make([]byte, 100_000)} {
		packed := slices.Concat(pack(f, data)...)
		f.Add(packed[:len(packed)/2], packed[len(packed)/2:])
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		data, err := content.Join([][]byte{a, b})
		if (err == nil) == errors.Is(err, content.ErrCorrupt) || len(data) > content.MaxBytes {
			t.Fatalf("Join returned %d bytes, error %v, want at most %d bytes or ErrCorrupt", len(data), err, content.MaxBytes)
		}
		if err != nil {
			return
		}
		again, err := content.Join(pack(t, data))
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("packing and joining again returned %d bytes, error %v, want the same %d bytes", len(again), err, len(data))
		}
	})
}

func TestFromBase64(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "AA==": "\x00", "aGVsbG8=": "hello", "+/+/": "\xfb\xff\xbf"} {
		if data, err := content.FromBase64(text); err != nil || string(data) != want {
			t.Errorf("FromBase64(%q) = %q, %v, want %q", text, data, err, want)
		}
	}
	for _, text := range []string{
		"A", "AA", "AA=", "AB==", "AAA", "-_-_", "AA==\n", "A\nA==", "A\r\nA==", " AA==", "AA== ", "AA==AA==",
		"é", "====", "\x00",
	} {
		if data, err := content.FromBase64(text); !errors.Is(err, content.ErrNotBase64) {
			t.Errorf("FromBase64(%q) = %q, %v, want ErrNotBase64", text, data, err)
		}
	}
}

func FuzzFromBase64(f *testing.F) {
	for _, seed := range []string{"", "AA==", "AB==", "aGVsbG8=", "AA==\n", "-_"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		data, err := content.FromBase64(text)
		if err == nil && base64.StdEncoding.EncodeToString(data) != text {
			t.Errorf("%q is not the canonical encoding of %q", text, data)
		}
	})
}

func TestFitsJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": true, "a": true, "ab\n": true, "é": true, "\u2028": true, "<&>": true,
		"\n": false, "\"\\": false, "a\x00b": false, "\xff": false, "ok\xc3": false,
		strings.Repeat("x", 10) + "\x00": true,
	} {
		if got := content.FitsJSON([]byte(text)); got != want {
			t.Errorf("FitsJSON(%q) = %v, want %v", text, got, want)
		}
	}
}

// FitsJSON counts the bytes that the JSON encoder writes.
func TestFitsJSONCountsEscapes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab\"\\\b\f\n\r\t\x00\x1f\x7f/é<\u2028😀"))).Draw(t, "text")
		if text == "" {
			return
		}
		quoted, err := jsontext.AppendQuote(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		if want := len(quoted)-2 < 2*len(text); content.FitsJSON([]byte(text)) != want {
			t.Fatalf("FitsJSON(%q) = %v, want %v: the JSON is %s", text, !want, want, quoted)
		}
	})
}

func TestPackFile(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		data   []byte
		format content.Format
	}{
		"no bytes":            {nil, ""},
		"the largest chunk":   {randomBytes(content.MaxInline - 1), ""}, // one byte is the format
		"the smallest object": {randomBytes(content.MaxInline), content.Raw},
		"compressed to chunk": {make([]byte, content.MaxBytes), ""},
		"compressed object":   {append(randomBytes(10_000), make([]byte, 10_000)...), content.Zstd},
		"maximum size":        {randomBytes(content.MaxBytes), content.Raw},
	} {
		packed, format, err := content.PackFile(tc.data)
		if err != nil || format != tc.format || (format == "" && len(packed) > content.MaxInline) {
			t.Errorf("%s: got %d bytes in the format %q, error %v, want the format %q",
				name, len(packed), format, err, tc.format)
			continue
		}
		got, err := content.Open(format, packed)
		if format == "" {
			got, err = content.Join(slices.Collect(slices.Chunk(packed, content.MaxChunk)))
		}
		if err != nil || !bytes.Equal(got, tc.data) {
			t.Errorf("%s: got %d bytes, error %v, want the packed %d bytes", name, len(got), err, len(tc.data))
		}
	}
	if _, _, err := content.PackFile(make([]byte, content.MaxBytes+1)); !errors.Is(err, content.ErrTooLarge) {
		t.Errorf("got error %v, want ErrTooLarge", err)
	}
}

func TestOpenRejectsCorruptObjects(t *testing.T) {
	t.Parallel()
	compressed, _, err := content.PackFile(append(randomBytes(10_000), make([]byte, 10_000)...))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		format content.Format
		body   []byte
	}{
		{"", compressed}, {"gzip", compressed}, {content.Zstd, []byte("x")}, {content.Zstd, compressed[:len(compressed)/2]},
		{content.Raw, make([]byte, content.MaxBytes+1)},
	} {
		if data, err := content.Open(tc.format, tc.body); !errors.Is(err, content.ErrCorrupt) {
			t.Errorf("format %q: got %d bytes, error %v, want ErrCorrupt", tc.format, len(data), err)
		}
	}
}

func TestObjectKeys(t *testing.T) {
	t.Parallel()
	const projectID, contentID = "prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "01K9ZQ3V7M8T5XW2ABCDEFGHJK"
	key := content.Ref{ContentID: contentID}.ObjectKey(projectID)
	if want := "contents/" + projectID + "/" + contentID; key != want {
		t.Errorf("got the key %q, want %q", key, want)
	}
	if p, c, ok := content.ParseObjectKey(key); p != projectID || c != contentID || !ok {
		t.Errorf("ParseObjectKey(%q) = %q, %q, %v, want the parts of the key", key, p, c, ok)
	}
	for _, parts := range [][2]string{
		{"", contentID}, {"prj_1", contentID}, {"usr_01K9ZQ3V7M8T5XW2ABCDEFGHJK", contentID}, {projectID + "/x", contentID},
		{projectID, ""}, {projectID, "a/b"}, {projectID, "a\x00"},
	} {
		if key := (content.Ref{ContentID: parts[1]}).ObjectKey(parts[0]); key != "" {
			t.Errorf("project ID %q and content ID %q: got the key %q, want none", parts[0], parts[1], key)
		}
	}
	for _, key := range []string{
		"", "contents/", "contents/" + projectID, "contents/" + projectID + "/", "contents//" + contentID,
		projectID + "/" + contentID, "sites/" + projectID + "/" + contentID, key + "/x",
	} {
		if p, c, ok := content.ParseObjectKey(key); ok {
			t.Errorf("ParseObjectKey(%q) = %q, %q, true, want false", key, p, c)
		}
	}
}
