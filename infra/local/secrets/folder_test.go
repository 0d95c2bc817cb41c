package secrets_test

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/cockroachdb/pebble/v2"

	"devplatform/infra/local/datafolder"
	"devplatform/infra/local/secrets"
)

func openFolder(t *testing.T, dir string) *datafolder.Folder {
	t.Helper()
	folder, err := datafolder.Open(datafolder.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// Secrets that several clients write at the same time are there after the folder was closed.
func TestSurvivesReopening(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	folder := openFolder(t, dir)
	s := open(t, folder)
	s.create(t, "k", "one")
	s.put(t, "k", "two")
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			name := string(rune('a' + i))
			if _, err := s.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: &name, SecretString: &name}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if err := folder.Close(); err != nil {
		t.Fatal(err)
	}
	folder = openFolder(t, dir)
	defer func() { _ = folder.Close() }()
	again := open(t, folder)
	equal(t, again.value(t.Context(), "k"), "two")
	for i := range 8 {
		name := string(rune('a' + i))
		equal(t, again.value(t.Context(), name), name)
	}
}

func TestDamagedRecord(t *testing.T) {
	t.Parallel()
	folder := openFolder(t, filepath.Join(t.TempDir(), "data"))
	defer func() { _ = folder.Close() }()
	err := folder.Update(func(batch *pebble.Batch) error {
		return batch.Set([]byte{datafolder.SpaceSecret}, []byte("[{"), nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = secrets.Open(secrets.Options{Folder: folder, Now: func() time.Time { return start }})
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), folder.Dir+" is damaged") {
		t.Errorf("%v is not one clear line", err)
	}
}
