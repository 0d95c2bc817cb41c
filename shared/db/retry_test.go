package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"devplatform/shared/db"
)

func TestRetryUntilAnAttemptSucceeds(t *testing.T) {
	t.Parallel()
	for _, reason := range []error{db.ErrStale, db.ErrConflict} {
		synctest.Test(t, func(t *testing.T) {
			attempts := 0
			err := db.Retry(t.Context(), "test", func(ctx context.Context) error {
				if attempts++; attempts < 20 {
					return fmt.Errorf("attempt %d: %w", attempts, reason)
				}
				return nil
			})
			if err != nil || attempts != 20 {
				t.Errorf("%v: got error %v after %d attempts, want none after 20", reason, err, attempts)
			}
		})
	}
}

func TestRetryReturnsOtherErrorsAtOnce(t *testing.T) {
	t.Parallel()
	other := errors.New("other")
	for _, want := range []error{other, db.ErrConditionFailed, db.ErrUnavailable} {
		attempts := 0
		err := db.Retry(t.Context(), "test", func(ctx context.Context) error { attempts++; return want })
		if !errors.Is(err, want) || errors.Is(err, db.ErrConflict) || attempts != 1 {
			t.Errorf("got error %v after %d attempts, want only %v after 1", err, attempts, want)
		}
	}
}

func TestRetryIsLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin, attempts := time.Now(), 0
		err := db.Retry(t.Context(), "save file", func(ctx context.Context) error { attempts++; return db.ErrStale })
		if !errors.Is(err, db.ErrConflict) || !errors.Is(err, db.ErrStale) || attempts != 20 {
			t.Errorf("got error %v after %d attempts, want ErrConflict and ErrStale after 20", err, attempts)
		}
		if !strings.Contains(err.Error(), "save file: 20 attempts") {
			t.Errorf("got error %v, want one that contains the operation and the number of attempts", err)
		}
		if took := time.Since(begin); took < time.Second || took > 6*time.Second {
			t.Errorf("the attempts took %s, want 1 s to 6 s", took)
		}
	})
}

func TestRetryEndsWithContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		attempts := 0
		err := db.Retry(ctx, "test", func(ctx context.Context) error {
			if attempts++; attempts == 3 {
				cancel()
			}
			return db.ErrStale
		})
		if !errors.Is(err, db.ErrConflict) || attempts != 3 {
			t.Errorf("got error %v after %d attempts, want ErrConflict after 3", err, attempts)
		}
	})
}

// This test replaces the default logger, so it does not run in parallel.
func TestRetryWarnsOfContention(t *testing.T) {
	original := slog.Default()
	t.Cleanup(func() { slog.SetDefault(original) })
	for conflicts, want := range map[int]int{7: 0, 8: 1, 19: 1} {
		var log bytes.Buffer
		slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
		synctest.Test(t, func(t *testing.T) {
			attempts := 0
			err := db.Retry(t.Context(), "rename", func(ctx context.Context) error {
				if attempts++; attempts <= conflicts {
					return db.ErrStale
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		if got := strings.Count(log.String(), "level=WARN"); got != want {
			t.Errorf("%d conflicts: got %d warnings, want %d", conflicts, got, want)
		}
		if want > 0 && !strings.Contains(log.String(), "operation=rename attempts=8") {
			t.Errorf("%d conflicts: got log %s, want the operation and 8 attempts", conflicts, &log)
		}
	}
}
