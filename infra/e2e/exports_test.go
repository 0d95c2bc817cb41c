package e2e

import (
	"archive/zip"
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"devplatform/infra/platformtest"
	"devplatform/infra/testmode"
)

// exportLimit limits the wait for an export, which a killed function leaves to the next run of the sweep.
const exportLimit = 10 * time.Minute

// peakMemory returns the largest resident memory of the instances of a function so far, in MiB.
func peakMemory(p *platformtest.Platform, function string) (peak int) {
	for _, pid := range p.Children() {
		executable, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // an instance that has ended has none
		_, text, found := strings.Cut(string(status), "VmHWM:")
		if filepath.Base(executable) != function || !found {
			continue
		}
		kib, _ := strconv.Atoi(strings.Fields(text)[0])
		peak = max(peak, kib/1024)
	}
	return peak
}

// TestExport exports a project, downloads the archive without a session, and compares the files. The function needs no
// more memory for a large project than for a small one. In its full form, the project has almost 200 MiB. With the race
// detector, it is small, and the memory is not checked.
func TestExport(t *testing.T) {
	t.Parallel()
	files := 130 // of 1 MiB
	switch {
	case testmode.HasRaceDetector:
		files = 3 // the race detector compresses about 1 MiB per second
	case testmode.IsNightly():
		files = 199
	}
	p := platformtest.Start(t)
	ada := platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	project := ada.NewProject("Photos", nil)
	want := map[string][]byte{}
	save := func(path string, data []byte) {
		body := platformtest.Object{"path": path, "content": base64.StdEncoding.EncodeToString(data), "encoding": "base64"}
		ada.Do("POST", "/api/projects/"+project+"/files", body.String()).Want(t, http.StatusCreated)
		want[path[1:]] = data
	}
	save("/src/é.ts", []byte("export {}\n"))
	at := "/api/projects/" + project + "/exports"
	small := download(t, ada, at, "photos.zip")
	checkArchive(t, small, want)
	before := peakMemory(p, "jobs")
	data := make([]byte, 1<<20)
	for i := range files {
		_, _ = rand.Read(data)
		save(fmt.Sprintf("/photos/%03d.bin", i), bytes.Clone(data))
	}
	began := time.Now()
	large := download(t, ada, at, "photos.zip")
	took := time.Since(began)
	checkArchive(t, large, want)
	after := peakMemory(p, "jobs")
	t.Logf("an archive of %d MiB in %v, %d MiB of memory at first and %d MiB then", len(large)>>20, took, before, after)
	if after > before+maxGrowth && !testmode.HasRaceDetector {
		t.Errorf("the function needed %d MiB of memory for a small project and %d MiB for one of %d MiB", before, after, files)
	}
}

// maxGrowth is the memory in MiB that the function may need for a large project in addition to that for a small one:
// one part of the archive, and a batch of contents.
const maxGrowth = 100

// download starts an export with a request to a path, waits until it is ready, and returns its file, which has a name.
func download(t *testing.T, c *platformtest.Client, at, name string) []byte {
	t.Helper()
	id, _ := c.Do("POST", at, "").Want(t, http.StatusAccepted)["id"].(string)
	var export map[string]any
	platformtest.EventuallyWithin(t, exportLimit, "an export that is ready", func() bool {
		export = c.Do("GET", at+"/"+id, "").Want(t, http.StatusOK)
		return export["status"] == "ready"
	})
	url, _ := export["url"].(string)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	must(t, err)
	response, err := http.DefaultClient.Do(r)
	must(t, err)
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	must(t, err)
	disposition := response.Header.Get("Content-Disposition")
	if response.StatusCode != http.StatusOK || disposition != "attachment; filename="+name {
		t.Errorf("got status %d and the disposition %q, want 200 and an attachment", response.StatusCode, disposition)
	}
	return data
}

// checkArchive checks that an archive has exactly the files.
func checkArchive(t *testing.T, data []byte, want map[string][]byte) {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	if len(archive.File) != len(want) {
		t.Errorf("got %d files, want %d", len(archive.File), len(want))
	}
	for _, entry := range archive.File {
		file, err := entry.Open()
		must(t, err)
		got, err := io.ReadAll(file)
		if err != nil || !bytes.Equal(got, want[entry.Name]) {
			t.Errorf("%s: got %d bytes, error %v, want the %d bytes that were saved", entry.Name, len(got), err, len(want[entry.Name]))
		}
	}
}
