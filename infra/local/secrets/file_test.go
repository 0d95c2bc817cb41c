package secrets_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"devplatform/infra/local/secrets"
)

func TestSurvivesReopening(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "secrets")
	s := open(t, dir)
	s.create(t, "k", "one")
	s.put(t, "k", "two")

	file := filepath.Join(dir, "secrets.json")
	for path, want := range map[string]os.FileMode{dir: 0o700, file: 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, info.Mode().Perm(), want)
	}
	again := open(t, dir)
	equal(t, again.value(t.Context(), "k", ""), "two")
	equal(t, again.value(t.Context(), "k", "AWSPREVIOUS"), "one")
	again.put(t, "k", "three")
	equal(t, open(t, dir).value(t.Context(), "k", ""), "three")
}

func TestDamagedFileIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open(t, dir).create(t, "k", "precious")
	file := filepath.Join(dir, "secrets.json")
	sound, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string][]byte{
		"cut off":      sound[:len(sound)/2],
		"empty":        {},
		"flipped":      bytes.Replace(sound, []byte("precious"), []byte("precioux"), 1),
		"foreign":      []byte(`{"a": "file of another program"}`),
		"other format": bytes.Replace(sound, []byte("local-secretsmanager/1"), []byte("local-secretsmanager/2"), 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "secrets.json")
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := secrets.Open(secrets.Options{Dir: dir, Now: func() time.Time { return start }})
			if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), path) {
				t.Errorf("%v is not one clear line", err)
			}
			after, readErr := os.ReadFile(path)
			if readErr != nil {
				t.Fatal(readErr)
			}
			equal(t, after, damaged)
		})
	}
}

func TestFailedWriteChangesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "gone")
	s := open(t, dir)
	s.create(t, "k", "one")
	if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	_, err := s.PutSecretValue(t.Context(), &secretsmanager.PutSecretValueInput{SecretId: aws.String("k"), SecretString: aws.String("two")})
	if got := failure(err); !strings.HasPrefix(got, "InternalServerError") {
		t.Error(got)
	}
	equal(t, s.value(t.Context(), "k", ""), "one")
}

// Files of earlier versions of this package have more members.
func TestOlderFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const body = `[{"name":"k","arn":"a","kmsKeyId":"key","tags":[{"Key":"a","Value":"b"}],"created":"2026-01-01T00:00:00Z",` +
		`"changed":"2026-01-01T00:00:00Z","versions":[{"id":"v","stages":["AWSCURRENT","x"],` +
		`"created":"2026-01-01T00:00:00Z","value":{"string":"one"}}]}]`
	content := fmt.Sprintf(`{"format":"local-secretsmanager/1","sha256":"%x","secrets":%s}`, sha256.Sum256([]byte(body)), body)
	if err := os.WriteFile(filepath.Join(dir, "secrets.json"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir)
	equal(t, s.value(t.Context(), "k", ""), "one")
	s.put(t, "k", "two")
	equal(t, open(t, dir).value(t.Context(), "k", "AWSPREVIOUS"), "one")
}

func TestConcurrentWritersLoseNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
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
	again := open(t, dir)
	for i := range 8 {
		name := string(rune('a' + i))
		equal(t, again.value(t.Context(), name, ""), name)
	}
}
