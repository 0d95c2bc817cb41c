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
			err := db.Retry(t.Context(), "test", func() error {
				if attempts++; attempts < 20 {
					return fmt.Errorf("attempt %d: %w", attempts, reason)
				}
				return nil
			})
			if err != nil || attempts != 20 {
				t.Errorf("%v: %v after %d attempts", reason, err, attempts)
			}
		})
	}
}

func TestRetryReturnsOtherErrorsAtOnce(t *testing.T) {
	t.Parallel()
	other := errors.New("other")
	for _, want := range []error{other, db.ErrConditionFailed, db.ErrUnavailable} {
		attempts := 0
		err := db.Retry(t.Context(), "test", func() error { attempts++; return want })
		if !errors.Is(err, want) || errors.Is(err, db.ErrConflict) || attempts != 1 {
			t.Errorf("%v: %v after %d attempts", want, err, attempts)
		}
	}
}

func TestRetryIsLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin, attempts := time.Now(), 0
		err := db.Retry(t.Context(), "save file", func() error { attempts++; return db.ErrStale })
		if !errors.Is(err, db.ErrConflict) || !errors.Is(err, db.ErrStale) || attempts != 20 {
			t.Errorf("%v after %d attempts", err, attempts)
		}
		if !strings.Contains(err.Error(), "save file: 20 attempts") {
			t.Errorf("the error does not name the operation: %v", err)
		}
		if took := time.Since(begin); took < time.Second || took > 6*time.Second {
			t.Errorf("the attempts took %s", took)
		}
	})
}

func TestRetryEndsWithContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		attempts := 0
		err := db.Retry(ctx, "test", func() error {
			if attempts++; attempts == 3 {
				cancel()
			}
			return db.ErrStale
		})
		if !errors.Is(err, db.ErrConflict) || attempts != 3 {
			t.Errorf("%v after %d attempts", err, attempts)
		}
	})
}

// This test replaces the default logger, so it does not run in parallel.
func TestRetryWarnsOfContention(t *testing.T) {
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	for conflicts, want := range map[int]int{7: 0, 8: 1, 19: 1} {
		var log bytes.Buffer
		slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
		synctest.Test(t, func(t *testing.T) {
			attempts := 0
			err := db.Retry(t.Context(), "rename", func() error {
				if attempts++; attempts <= conflicts {
					return db.ErrStale
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		if got := strings.Count(log.String(), "level=WARN"); got != want || want > 0 && !strings.Contains(log.String(), "operation=rename attempts=8") {
			t.Errorf("%d conflicts: %s", conflicts, &log)
		}
	}
}
