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

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/platformtest"
	"devplatform/infra/testmode"
)

// small mounts a file system with a number of bytes until the test ends, and returns its folder. It skips the test if
// the user may not mount file systems.
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

// fill writes a file with a name until the disk is full.
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

// TestDiskFull runs the platform on a disk that another program fills. The platform ends with the reason in its log.
// When there is space, it starts again, and all acknowledged data is there.
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
	for n := range 10 {
		name := fmt.Sprintf("/before/%d.txt", n)
		ada.Save(project, name, name+content).Want(t, http.StatusCreated)
		acknowledged[name] = name + content
	}

	filler := filepath.Join(disk, "filler")
	fill(t, filler)
	tables := p.DynamoDB()
	for n := 0; ; n++ { // some writes still succeed, in the space that is reserved for the log
		_, err := tables.CreateTable(t.Context(), &dynamodb.CreateTableInput{
			TableName: aws.String(fmt.Sprintf("full-%d", n)), BillingMode: types.BillingModePayPerRequest,
			AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}},
			KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
		})
		if err != nil {
			break
		}
		if n == 10_000 {
			t.Fatal("the platform still writes to the full disk")
		}
	}
	if !p.End(syscall.Signal(0), responseTimeout) {
		t.Fatal("the platform still runs")
	}
	// The last line of the log is the reason. The errors of requests in progress can contain it, too.
	lines := strings.Split(strings.TrimSpace(p.Log.String()), "\n")
	last := lines[len(lines)-1]
	if !strings.HasPrefix(last, "local: the data in "+data) ||
		!strings.HasSuffix(last, "no space left on device; nothing that was acknowledged is lost") {
		t.Errorf("the log ends with %q, want the reason", last)
	}

	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	p = platformtest.StartIn(t, data)
	bob := platformtest.NewClient(t, p.URL)
	bob.Login("ada").Want(t, http.StatusOK)
	readAll(t, bob, project, acknowledged)
}

// readAll reads every file and compares it with what was saved.
func readAll(t *testing.T, c *platformtest.Client, project string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		a := c.Do("GET", "/api/projects/"+project+"/files?path="+name, "")
		if got := field(a, "content"); a.Status != http.StatusOK || got != content {
			t.Fatalf("%s: got status %d and %d bytes, want 200 and %d bytes", name, a.Status, len(got), len(content))
		}
	}
}
