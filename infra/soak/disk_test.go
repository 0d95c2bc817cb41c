package soak

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"devplatform/infra/platformtest"
	"devplatform/infra/testmode"
)

// small mounts a file system of that size until the test ends. It skips the test if the user may not mount.
func small(t *testing.T, bytes int) string {
	t.Helper()
	dir := t.TempDir()
	if err := mount(dir, bytes); err != nil {
		t.Skipf("can't mount a small file system here: %v", err)
	}
	t.Cleanup(func() {
		if err := unmount(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill writes a file of that name until the disk is full.
func fill(t *testing.T, name string) {
	t.Helper()
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for piece := make([]byte, 1<<20); len(piece) > 0; {
		if _, err = file.Write(piece); errors.Is(err, syscall.ENOSPC) {
			piece = piece[:len(piece)/2]
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestDiskFull runs the platform on a disk that another program fills. Writes get an error to try again, reads work,
// and the log names the disk once. When there is space, writes work again. After a kill, all acknowledged data is
// there.
func TestDiskFull(t *testing.T) {
	testmode.SkipIfNotNightly(t)
	disk := small(t, 96<<20)
	data := filepath.Join(disk, "data")
	p := platformtest.StartIn(t, data)
	ada := platformtest.NewClient(t, p.URL)
	ada.SignUp("ada")
	project := ada.NewProject("Crowded", nil)
	noise := make([]byte, 2_900) // larger contents are in S3, and not in the database
	_, _ = rand.Read(noise)
	content := base64.StdEncoding.EncodeToString(noise)
	acknowledged := map[string]string{}
	save := func(name string) platformtest.Response {
		a := ada.Save(project, name, name+content)
		if a.Status == http.StatusCreated {
			acknowledged[name] = name + content
		}
		return a
	}
	for n := range 10 {
		save(fmt.Sprintf("/before/%d.txt", n)).Want(t, http.StatusCreated)
	}

	filler := filepath.Join(disk, "filler")
	fill(t, filler)
	refused := 0
	for n := 0; refused < 3; n++ { // the space that is reserved for the log takes some writes
		if n == 10_000 {
			t.Fatal("there is always room")
		}
		if a := save(fmt.Sprintf("/during/%d.txt", n)); a.Status != http.StatusCreated {
			a.WantError(t, http.StatusServiceUnavailable, "SERVICE_UNAVAILABLE")
			refused++
		}
	}
	ada.Do("GET", "/api/auth/me", "").Want(t, http.StatusOK)
	readAll(t, ada, project, acknowledged)
	ada.Do("GET", "/api/projects/"+project+"/events", "").Want(t, http.StatusOK)
	if got := strings.Count(p.Log.String(), "dynamodb: the disk is full: writes fail until there is room in "+data); got != 1 {
		t.Errorf("the log names the disk %d times, want once", got)
	}

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	platformtest.EventuallyWithin(t, responseTimeout, "room", func() bool { return save("/after.txt").Status == http.StatusCreated })
	if !strings.Contains(p.Log.String(), "dynamodb: there is room again in ") {
		t.Error("the log does not say that there is room again")
	}
	readAll(t, ada, project, acknowledged)
	p.Kill()

	p = platformtest.StartIn(t, data)
	bob := platformtest.NewClient(t, p.URL)
	bob.Login("ada").Want(t, http.StatusOK)
	readAll(t, bob, project, acknowledged)
	t.Logf("%d files were acknowledged, and are there", len(acknowledged))
}

// readAll reads every file and compares it with what was saved.
func readAll(t *testing.T, c *platformtest.Client, project string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		a := c.Do("GET", "/api/projects/"+project+"/files?path="+name, "")
		if got := field(a, "content"); a.Status != http.StatusOK || got != content {
			t.Fatalf("%s: %d, %d bytes, want %d", name, a.Status, len(got), len(content))
		}
	}
}
