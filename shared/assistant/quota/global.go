package quota

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"
)

// The usage of all users together is divided into shards, because all calls would conflict on a single item. Each shard
// has an equal part of the limit. A call reserves its tokens in a random shard, or in another shard if the random one
// has too few tokens left. So the sum of all shards exceeds the limit only by tokens that answers use beyond their
// reservations. In the end, each shard can have tokens left that are too few for a call.
const (
	// maxShards is the maximum number of shards.
	maxShards = 16
	// tokensPerShard is the minimum limit of a shard, if there are several shards. It is many times the tokens of a
	// call, so that the tokens that are left are a small part of the limit.
	tokensPerShard = 1_000_000
)

// shards returns the number of shards, 0 if the usage of all users is not counted.
func (l Limits) shards() int {
	if l.GlobalMonthlyTokens <= 0 {
		return 0
	}
	return min(max(l.GlobalMonthlyTokens/tokensPerShard, 1), maxShards)
}

// shardLimit returns the limit of a shard. Shards are numbered from 1. Their limits add up to GlobalMonthlyTokens.
func (l Limits) shardLimit(shard int) int {
	limit := l.GlobalMonthlyTokens / l.shards()
	if shard <= l.GlobalMonthlyTokens%l.shards() {
		limit++
	}
	return limit
}

// anyShard returns a random shard, or 0 if there are none.
func (l Limits) anyShard() int {
	if l.shards() == 0 {
		return 0
	}
	return 1 + rand.IntN(l.shards()) //nolint:gosec // it only spreads the load
}

// findShard returns a shard that has at least the given number of tokens left, and the number that it has left. Of
// several such shards, it returns a random one, so that calls do not conflict. If there is none, it returns the shard
// with the most tokens left. taken contains the used and reserved tokens of each shard, beginning with shard 1.
func (l Limits) findShard(taken [maxShards]int, tokens int) (shard, left int) {
	left = -1
	for _, i := range rand.Perm(l.shards()) { //nolint:gosec // it only spreads the load
		if free := max(0, l.shardLimit(i+1)-taken[i]); free > left {
			shard, left = i+1, free
		}
		if left >= tokens {
			break
		}
	}
	return shard, left
}

const (
	// reportInterval is the shortest time between two reports of the usage of all users by one process.
	reportInterval = time.Minute
	// reportTimeout is the maximum time that a report takes. Without it, an outage of storage would delay the response.
	reportTimeout = time.Second
)

// ReportGlobalUsage logs which percentage of the tokens of all users is used or reserved in this month, at most once a
// minute in each process. Alarms depend on this line. Without a limit for all users together, it does nothing.
func (l *Ledger) ReportGlobalUsage(ctx context.Context) {
	now, last := l.now(), l.lastReport.Load()
	if l.limits.shards() == 0 || now.Sub(time.Unix(0, last)).Abs() < reportInterval ||
		!l.lastReport.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	taken, err := l.globalUsage(ctx, MonthOf(now))
	if err != nil {
		l.logger.WarnContext(ctx, "the tokens of all users could not be read", "cause", err.Error())
		return
	}
	sum := 0
	for _, tokens := range taken {
		sum += tokens
	}
	l.logGlobalUsage(ctx, 100*float64(sum)/float64(l.limits.GlobalMonthlyTokens))
}

// logGlobalUsage logs the used percentage of the tokens of all users. It is 100 if a call was refused.
func (l *Ledger) logGlobalUsage(ctx context.Context, percent float64) {
	l.logger.LogAttrs(ctx, slog.LevelInfo, "tokens of all users", slog.Float64("percent", percent))
}
