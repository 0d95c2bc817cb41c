package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// logged is a delivery in the platform's log.
type logged struct {
	ID, Type, Status string
	Attempts         []struct {
		At                     time.Time
		StatusCode, DurationMs int
		Error                  string
	}
	NextAttemptAt *time.Time
}

func logCall(hook string, limit int) call {
	return call{method: http.MethodGet, path: fmt.Sprintf("/api/webhooks/%s/deliveries?limit=%d", hook, limit), want: http.StatusOK}
}

// logUntil asks for a webhook's log until it is as far as the story: an attempt is written down when its answer has been read.
func (s *story) logUntil(ctx context.Context, hook string, enough func([]logged) bool) ([]logged, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		var page struct{ Deliveries []logged }
		call := logCall(hook, 100)
		call.quiet, call.into = true, &page
		if err := s.do(ctx, call); err != nil {
			return nil, err
		}
		if enough(page.Deliveries) {
			return page.Deliveries, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("the delivery log: %w", ctx.Err())
		}
	}
}

// log shows what the platform has written down of its deliveries.
func (s *story) log(ctx context.Context) error {
	for i, hook := range s.hooks {
		if _, err := s.logUntil(ctx, hook, func(log []logged) bool {
			return !slices.ContainsFunc(log, func(l logged) bool { return l.Status == "pending" })
		}); err != nil {
			return err
		}
		s.screen.say("%s", []string{"The last four deliveries to the endpoint that works:", "The endpoint that failed once:"}[i])
		if err := s.showLog(ctx, hook, 4); err != nil {
			return err
		}
	}
	return nil
}

// showLog writes the newest deliveries of a webhook as a table.
func (s *story) showLog(ctx context.Context, hook string, limit int) error {
	var page struct{ Deliveries []logged }
	call := logCall(hook, limit)
	call.into = &page
	if err := s.do(ctx, call); err != nil {
		return err
	}
	var rows [][]cell
	for i, name := range []string{"delivery", "event", "attempt", "code", "time", "status", "next attempt"} {
		if i == 0 {
			rows = append(rows, nil)
		}
		rows[0] = append(rows[0], cell{name, dim})
	}
	for _, delivery := range page.Deliveries {
		rows = append(rows, delivery.rows()...)
	}
	s.screen.table(rows)
	return nil
}

// rows are a delivery's in the table, one an attempt; what is true of the delivery as a whole stands in its last.
func (l logged) rows() (rows [][]cell) {
	for i, attempt := range l.Attempts {
		answer := cell{fmt.Sprint(attempt.StatusCode), class(attempt.StatusCode)}
		if attempt.StatusCode == 0 {
			answer = cell{"none", red}
		}
		row := []cell{{}, {}, {text: fmt.Sprint(i + 1)}, answer, {text: fmt.Sprintf("%d ms", attempt.DurationMs)}, {}, {}}
		if i == 0 {
			row[0], row[1] = cell{text: clean(short(l.ID))}, cell{text: clean(l.Type)}
		}
		if i == len(l.Attempts)-1 {
			row[5], row[6] = cell{text: clean(l.Status)}, cell{text: "–"}
			if l.NextAttemptAt != nil {
				row[6] = cell{text: "in " + seconds(l.NextAttemptAt.Sub(now()))}
			}
		}
		rows = append(rows, row)
	}
	return rows
}
