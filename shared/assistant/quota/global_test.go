package quota

import (
	"errors"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"devplatform/infra/local/dynamodb/dynamotest"
	"devplatform/infra/slicetest"
	"devplatform/shared/db"
	"devplatform/shared/fault"
)

// The limits of the shards add up to the limit of all users. There are several only if each one has at least
// tokensPerShard.
func TestShardLimits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := Limits{GlobalMonthlyTokens: rapid.IntRange(1, math.MaxInt).Draw(t, "limit")}
		sum, least := 0, math.MaxInt
		for shard := range l.shards() {
			limit := l.shardLimit(shard + 1)
			sum, least = sum+limit, min(least, limit)
		}
		if n := l.shards(); sum != l.GlobalMonthlyTokens || n > 1 && least < tokensPerShard || n > maxShards {
			t.Errorf("%d shards have %d tokens, and the smallest one has %d, want %d in total and at least %d in each",
				n, sum, least, l.GlobalMonthlyTokens, tokensPerShard)
		}
		if sum >= maxShards*tokensPerShard && l.shards() != maxShards {
			t.Errorf("got %d shards, want %d", l.shards(), maxShards)
		}
	})
	if n := (Limits{}).shards(); n != 0 {
		t.Errorf("without a limit: got %d shards, want 0", n)
	}
}

// Concurrent calls fill all shards, whichever shard each of them tries first, and exceed none. The rest of a shard goes
// to calls that need less.
func TestShardsAreFilled(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(l *Limits) {
		l.CallsPerMinute, l.MonthlyTokens, l.GlobalMonthlyTokens = 1000, math.MaxInt32, 4_000_000
	})
	ada := f.newUserID()
	reserve := func(int) error { return f.reserve(f.newReservation(ada, 150_000)) }
	// Each of the four shards has 1,000,000 tokens, which is enough for six calls.
	for _, want := range []map[fault.Code]int{{"": 24}, {fault.CodeQuotaExceeded: 8}} {
		calls := want[""] + want[fault.CodeQuotaExceeded]
		if diff := cmp.Diff(want, slicetest.CountCodes(calls, reserve)); diff != "" {
			t.Errorf("error codes (-want +got):\n%s", diff)
		}
	}
	for range 4 {
		reserved, err := f.ledger.Reserve(t.Context(), f.newReservation(ada, 150_000), 100_000)
		if err != nil || reserved.Tokens != 100_000 {
			t.Errorf("got a reservation of %d tokens and error %v, want the rest of a shard, 100,000", reserved.Tokens, err)
		}
	}
	if err := f.reserve(f.newReservation(ada, 1)); slicetest.CodeOf(err) != fault.CodeQuotaExceeded {
		t.Errorf("after the last token: got error %v, want code %s", err, fault.CodeQuotaExceeded)
	}
	for shard := range 4 {
		if got := f.usageAt(db.GlobalUsageKey(may, shard+1)).Taken; got != 1_000_000 {
			t.Errorf("got %d tokens taken in shard %d, want 1,000,000", got, shard+1)
		}
	}
}

// If both the user and all users have too few tokens, the error names the reason that rejects the call.
func TestBothLimitsRefuse(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(l *Limits) {
		l.CallsPerMinute, l.MonthlyTokens, l.GlobalMonthlyTokens = 1000, 40_000, 40_000
	})
	ada, grace := f.newUserID(), f.newUserID()
	f.must(f.reserve(f.newReservation(ada, 20_000)))
	f.must(f.reserve(f.newReservation(grace, 20_000)))
	_, err := f.ledger.Reserve(t.Context(), f.newReservation(ada, 30_000), 5_000) // ada has 20,000 left
	if slicetest.CodeOf(err) != fault.CodeQuotaExceeded || !strings.Contains(err.Error(), "All users together") {
		t.Errorf("got error %v, want that all users together have used the tokens", err)
	}
	if diff := cmp.Diff([]string{"100"}, f.percents()); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}

// Calls use all shards. A settlement, and the release of a crashed generation, change the shard of their reservation.
func TestShardsOfReservations(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(l *Limits) {
		l.CallsPerMinute, l.MonthlyTokens, l.GlobalMonthlyTokens = 1000, 70_000, 4_000_000
	})
	ada := f.newUserID()
	used := map[int]bool{}
	for range 69 { // misses a shard with a probability of one in a hundred million
		r := f.newReservation(ada, 1000)
		f.must(f.reserve(r))
		reserved, _ := f.reserved.Load(r.MessageID)
		used[reserved.(Reservation).shard] = true
		f.must(f.settle(r, 0, 1))
	}
	if diff := cmp.Diff(map[int]bool{1: true, 2: true, 3: true, 4: true}, used); diff != "" {
		t.Errorf("shards of the reservations (-want +got):\n%s", diff)
	}
	f.must(f.reserve(f.newReservation(ada, 50_000))) // crashes
	f.clock.Advance(crashedAfter + time.Second)
	f.must(f.reserve(f.newReservation(ada, 60_000)))
	taken := 0
	for shard := range maxShards {
		shardTaken := f.usageAt(db.GlobalUsageKey(may, shard+1)).Taken
		if shardTaken < 0 {
			t.Errorf("got %d tokens taken in shard %d, want at least 0", shardTaken, shard+1)
		}
		taken += shardTaken
	}
	if taken != 69+60_000 {
		t.Errorf("got %d tokens taken by all users, want %d", taken, 69+60_000)
	}
}

var percentLine = regexp.MustCompile(`msg="tokens of all users" percent=(\S+)`)

// percents returns the percentages of the tokens of all users that were logged.
func (f *fixture) percents() (values []string) {
	for _, line := range percentLine.FindAllStringSubmatch(f.log.String(), -1) {
		values = append(values, line[1])
	}
	return values
}

// The used percentage of the tokens of all users is logged once a minute, and as 100 when a call is refused.
func TestReportGlobalUsage(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(l *Limits) { l.GlobalMonthlyTokens = 4_000_000 })
	wire := f.startWire(nil)
	ada := f.newUserID()
	check := func(want ...string) {
		t.Helper()
		var calls sync.WaitGroup
		for range 8 {
			calls.Go(func() { f.ledger.ReportGlobalUsage(t.Context()) })
		}
		calls.Wait()
		if diff := cmp.Diff(want, f.percents()); diff != "" {
			t.Errorf("percentages (-want +got):\n%s", diff)
		}
	}
	for range 2 {
		f.must(f.reserve(f.newReservation(ada, 1_000_000)))
	}
	check("50")
	f.clock.Advance(reportInterval - time.Second)
	check("50")
	f.clock.Advance(time.Second)
	wire.Break("BatchGetItem", dynamotest.ServerError)
	check("50")
	wire.Clear()
	check("50") // not before the next minute
	f.clock.Advance(reportInterval)
	check("50", "50")
	f.put(db.UsageKey(ada, may), Usage{})
	if err := f.reserve(f.newReservation(ada, 1_000_001)); slicetest.CodeOf(err) != fault.CodeQuotaExceeded {
		t.Fatalf("got error %v, want code %s", err, fault.CodeQuotaExceeded)
	}
	check("50", "50", "100")
	f.clock.Advance(20 * 24 * time.Hour)
	check("50", "50", "100", "0") // June
}

// Without a limit for all users together, calls do not count the usage of all users together, and do not report it.
func TestGlobalUsageIsNotCountedWithoutALimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t, nil)
	r := f.newReservation(f.newUserID(), 3000)
	f.must(errors.Join(f.reserve(r), f.settle(r, 10, 0)))
	f.ledger.ReportGlobalUsage(t.Context())
	f.checkUsage("", may, Usage{})
	if got := f.percents(); got != nil {
		t.Errorf("got the percentages %v, want none", got)
	}
}
