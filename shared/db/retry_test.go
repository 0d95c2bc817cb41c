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

// Retry makes 20 attempts while another writer changes the item. It ends at any other error, and with its context.
func TestRetry(t *testing.T) {
	t.Parallel()
	other := errors.New("other")
	for name, tc := range map[string]struct {
		reason   error // the error of each attempt
		success  int   // the attempt that succeeds
		end      int   // the attempt at which the context ends
		want     error
		attempts int
	}{
		"stale":            {db.ErrStale, 20, 0, nil, 20},
		"conflict":         {db.ErrConflict, 20, 0, nil, 20},
		"too many":         {db.ErrStale, 21, 0, db.ErrConflict, 20},
		"canceled":         {db.ErrStale, 20, 3, db.ErrConflict, 3},
		"other error":      {other, 20, 0, other, 1},
		"condition failed": {db.ErrConditionFailed, 20, 0, db.ErrConditionFailed, 1},
		"unavailable":      {db.ErrUnavailable, 20, 0, db.ErrUnavailable, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			begin, attempts := time.Now(), 0
			err := db.Retry(ctx, "save file", func(context.Context) error {
				if attempts++; attempts == tc.end {
					cancel()
				}
				if attempts == tc.success {
					return nil
				}
				return fmt.Errorf("attempt %d: %w", attempts, tc.reason)
			})
			if !errors.Is(err, tc.want) || attempts != tc.attempts || err != nil && !errors.Is(err, tc.reason) {
				t.Errorf("%s: got error %v after %d attempts, want %v after %d", name, err, attempts, tc.want, tc.attempts)
			}
			if isConflict := errors.Is(err, db.ErrConflict); isConflict && !errors.Is(tc.want, db.ErrConflict) ||
				isConflict && !strings.Contains(err.Error(), fmt.Sprintf("save file: %d attempts", attempts)) {
				t.Errorf("%s: got error %v, want the operation and the number of attempts in a conflict only", name, err)
			}
			if took := time.Since(begin); tc.attempts == 20 && (took < time.Second || took > 6*time.Second) {
				t.Errorf("%s: the attempts took %s, want 1 s to 6 s", name, took)
			}
		})
	}
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
