package lambdafn_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/shared/db"
	"devplatform/shared/lambdafn"
)

// fakePoison stores the records and the reasons that it receives. If err is set, it returns err instead.
type fakePoison struct {
	records, reasons []string
	err              error
}

func (p *fakePoison) store(_ context.Context, record []byte, reason error) error {
	if p.err != nil {
		return p.err
	}
	p.records, p.reasons = append(p.records, string(record)), append(p.reasons, reason.Error())
	return nil
}

// sequenceNumbers returns the sequence numbers of records.
func sequenceNumbers(records []lambdafn.StreamRecord) []string {
	numbers := []string{}
	for _, r := range records {
		numbers = append(numbers, r.SequenceNumber)
	}
	return numbers
}

// invokeBatch invokes a batch handler that returns the errors in errs, by sequence number. It returns the response, the
// sequence numbers of the records that each call of the handler received, and the log line.
func invokeBatch(
	t *testing.T, payload []byte, errs map[string]error, poison lambdafn.Poison,
) (response string, handled [][]string, line map[string]any) {
	t.Helper()
	l := &log{}
	logger := slog.New(slog.NewJSONHandler(l, nil))
	out, err := lambdafn.StreamBatch(logger, func(_ context.Context, records []lambdafn.StreamRecord) []error {
		handled = append(handled, sequenceNumbers(records))
		results := make([]error, len(records))
		for i, r := range records {
			results[i] = errs[r.SequenceNumber]
		}
		return results
	}, poison).Invoke(t.Context(), payload)
	if err != nil {
		t.Fatal(err)
	}
	lines := l.lines(t)
	if len(lines) != 1 {
		t.Fatalf("got %d log lines, want 1", len(lines))
	}
	return string(out), handled, lines[0]
}

// invalidRecord is a record whose new image is not valid.
const invalidRecord = `{"eventName":"INSERT","dynamodb":{"SequenceNumber":"200","NewImage":{"a":{"X":"hunter2"}}}}`

func TestStreamBatchHandlesRecordsTogether(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		errs     map[string]error // the handler's errors, by sequence number
		records  []string         // the records after the first one, which has the sequence number 100
		response string
		handled  []string
		done     float64
		failedAt string
	}{
		"all done": {
			records:  []string{removal(200), removal(300)},
			response: noFailures,
			handled:  []string{"100", "200", "300"},
			done:     3,
		},
		"two failed": {
			errs:     map[string]error{"200": errors.New("failed"), "300": errors.New("failed, too")},
			records:  []string{removal(200), removal(300)},
			response: failures("200"),
			handled:  []string{"100", "200", "300"},
			done:     1,
			failedAt: "200",
		},
		"one invalid": {
			records:  []string{invalidRecord, removal(300)},
			response: failures("200"),
			handled:  []string{"100", "300"},
			done:     1,
			failedAt: "200",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response, handled, line := invokeBatch(t, streamEvent(tc.records...), tc.errs, nil)
			if response != tc.response {
				t.Errorf("got the response %s, want %s", response, tc.response)
			}
			if diff := cmp.Diff([][]string{tc.handled}, handled); diff != "" {
				t.Errorf("the handler received the wrong records (-want +got):\n%s", diff)
			}
			failedAt, _ := line["failedAt"].(string)
			if line["done"] != tc.done || failedAt != tc.failedAt || (line["level"] == "ERROR") != (tc.failedAt != "") {
				t.Errorf("logged %v, want %v done and failedAt %q", line, tc.done, tc.failedAt)
			}
		})
	}
}

func TestPoisonRecordsCountAsDone(t *testing.T) {
	t.Parallel()
	p := &fakePoison{}
	errs := map[string]error{"300": fmt.Errorf("%w: no event", lambdafn.ErrPoison)}
	response, handled, line := invokeBatch(t, streamEvent(invalidRecord, removal(300), `7`, removal(500)), errs, p.store)
	if response != noFailures {
		t.Errorf("got the response %s, want %s", response, noFailures)
	}
	if diff := cmp.Diff([][]string{{"100", "300", "500"}}, handled); diff != "" {
		t.Errorf("the handler received the wrong records (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{invalidRecord, removal(300), `7`}, p.records); diff != "" {
		t.Errorf("poison received the wrong records (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"poison: new image: db: not an item in DynamoDB's JSON", "poison: no event", "poison: not a record of a DynamoDB stream",
	}, p.reasons); diff != "" {
		t.Errorf("poison received the wrong reasons (-want +got):\n%s", diff)
	}
	delete(line, "time")
	if diff := cmp.Diff(map[string]any{
		"level": "ERROR", "msg": "stream batch", "records": 5.0, "done": 5.0, "failed": 0.0,
		"poisoned": 3.0, "reason": p.reasons[0],
	}, line); diff != "" {
		t.Errorf("wrong log line (-want +got):\n%s", diff)
	}
}

func TestPoisonErrors(t *testing.T) {
	t.Parallel()
	for name, poison := range map[string]lambdafn.Poison{
		"error": (&fakePoison{err: errors.New("the queue is unavailable")}).store,
		"panic": func(context.Context, []byte, error) error { panic("the queue is unavailable") },
	} {
		response, _, line := invokeBatch(t, streamEvent(invalidRecord, removal(300)), nil, poison)
		cause, _ := line["cause"].(string)
		if response != failures("200") {
			t.Errorf("%s: got the response %s, want %s", name, response, failures("200"))
		}
		if !strings.Contains(cause, "new image") || !strings.Contains(cause, "queue is unavailable") {
			t.Errorf("%s: logged the cause %q, want the reason and the error of poison", name, cause)
		}
	}
}

func TestStreamBatchWithoutResults(t *testing.T) {
	t.Parallel()
	p := &fakePoison{}
	handle := func(context.Context, []lambdafn.StreamRecord) []error { return nil }
	out, err := lambdafn.StreamBatch(discardLog, handle, p.store).Invoke(t.Context(), streamEvent(removal(200)))
	if err != nil || string(out) != failures("100") || len(p.records) != 0 {
		t.Errorf("got the response %s, error %v and the poison records %v, want a failure at 100 and no poison records",
			out, err, p.records)
	}
}

// A record that no retry can handle does not block its shard, whether storage rejects what it leads to or the code
// panics. If the code panics, the other records of the batch are handled.
func TestRecordsThatCannotBeHandled(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"panic":    func() error { panic("broken") },
		"rejected": func() error { return fmt.Errorf("put: %w", db.ErrRejected) },
	} {
		p, done := &fakePoison{}, map[string]bool{}
		handle := func(_ context.Context, records []lambdafn.StreamRecord) []error {
			errs := make([]error, len(records))
			for i, r := range records {
				if r.SequenceNumber == "200" {
					errs[i] = fail()
				}
				done[r.SequenceNumber] = errs[i] == nil
			}
			return errs
		}
		payload := streamEvent(removal(200), removal(300))
		out, err := lambdafn.StreamBatch(discardLog, handle, p.store).Invoke(t.Context(), payload)
		if err != nil || string(out) != noFailures {
			t.Errorf("%s: got the response %s and error %v, want %s", name, out, err, noFailures)
		}
		if diff := cmp.Diff([]string{removal(200)}, p.records); diff != "" || !done["100"] || done["200"] || !done["300"] {
			t.Errorf("%s: handled %v, poison (-want +got):\n%s", name, done, diff)
		}
	}
}

// TestStreamContinuesAfterPoison checks that Stream stores a poison record before it calls handle with the next record.
func TestStreamContinuesAfterPoison(t *testing.T) {
	t.Parallel()
	var order []string
	poison := func(_ context.Context, _ []byte, reason error) error {
		order = append(order, reason.Error())
		return nil
	}
	out, err := lambdafn.Stream(discardLog, func(_ context.Context, r lambdafn.StreamRecord) error {
		order = append(order, r.SequenceNumber)
		if r.SequenceNumber == "300" {
			return fmt.Errorf("%w: 300", lambdafn.ErrPoison)
		}
		return nil
	}, poison).Invoke(t.Context(), streamEvent(invalidRecord, removal(300), removal(400)))
	want := []string{"100", "poison: new image: db: not an item in DynamoDB's JSON", "300", "poison: 300", "400"}
	if err != nil || string(out) != noFailures {
		t.Errorf("got the response %s, error %v, want %s", out, err, noFailures)
	}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("wrong order of calls (-want +got):\n%s", diff)
	}
}

// TestBatchesOfRecords checks arbitrary batches: the response reports the first failure, and every poison record before
// that failure is stored exactly once.
func TestBatchesOfRecords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		outcome := rapid.SampledFrom([]string{"done", "done", "done", "poison", "invalid", "failed"})
		outcomes := rapid.SliceOfN(outcome, 1, 12).Draw(rt, "outcomes")
		oneByOne := rapid.Bool().Draw(rt, "one by one")
		var records []string
		for i, outcome := range outcomes {
			record := removal(i)
			if outcome == "invalid" {
				record = strings.Replace(record, "null", "7", 1)
			}
			records = append(records, record)
		}
		resultOf := func(r lambdafn.StreamRecord) error {
			i, err := strconv.Atoi(r.SequenceNumber)
			if err != nil {
				return err
			}
			return map[string]error{"poison": lambdafn.ErrPoison, "failed": errors.New("failed")}[outcomes[i]]
		}
		p := &fakePoison{}
		h := lambdafn.StreamBatch(discardLog, func(_ context.Context, records []lambdafn.StreamRecord) []error {
			errs := make([]error, len(records))
			for i, r := range records {
				errs[i] = resultOf(r)
			}
			return errs
		}, p.store)
		if oneByOne {
			h = lambdafn.Stream(discardLog, func(_ context.Context, r lambdafn.StreamRecord) error {
				return resultOf(r)
			}, p.store)
		}
		out, err := h.Invoke(t.Context(), []byte(`{"Records":[`+strings.Join(records, ",")+`]}`))
		if err != nil {
			rt.Fatal(err)
		}
		want, end := noFailures, len(outcomes)
		if failed := slices.Index(outcomes, "failed"); failed >= 0 {
			want, end = failures(strconv.Itoa(failed)), failed
		}
		var wantPoison []string
		for i, outcome := range outcomes[:end] {
			if outcome == "poison" || outcome == "invalid" {
				wantPoison = append(wantPoison, records[i])
			}
		}
		if string(out) != want {
			rt.Errorf("got the response %s, want %s", out, want)
		}
		if diff := cmp.Diff(wantPoison, p.records); diff != "" {
			rt.Errorf("poison received the wrong records (-want +got):\n%s", diff)
		}
	})
}
