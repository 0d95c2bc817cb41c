package triggers

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// tips returns the positions of LATEST, which can be stored, unlike iterators, which expire. Shards that are closed are
// done. In the others, the records that were written until now are skipped.
func (m *streamMapping) tips(ctx context.Context, arn string, shards []types.Shard) (map[string]position, error) {
	tips := map[string]position{}
	for _, s := range shards {
		id := aws.ToString(s.ShardId)
		if s.SequenceNumberRange != nil && s.SequenceNumberRange.EndingSequenceNumber != nil {
			tips[id] = position{Kind: positionEnd}
			continue
		}
		var at position
		err := m.link.persist(ctx, "stream", func(ctx context.Context) (err error) {
			at, err = m.tip(ctx, arn, id)
			return err
		}, gone)
		if err != nil {
			return nil, err
		}
		if at != (position{}) {
			tips[id] = at
		}
	}
	return tips, nil
}

// tip returns the position of LATEST in a shard: after the last record before the iterator of LATEST. It returns the
// zero position if the shard has no records.
func (m *streamMapping) tip(ctx context.Context, arn, shard string) (position, error) {
	tip, err := m.iterator(ctx, arn, shard, types.ShardIteratorTypeLatest, "")
	if err != nil {
		return position{}, err
	}
	last, err := m.lastSequence(ctx, arn, shard, m.options.Now())
	if err != nil {
		return position{}, err
	}
	page, err := m.records(ctx, tip)
	switch {
	case err != nil:
		return position{}, err
	case len(page.Records) > 0:
		return position{positionAt, sequence(page.Records[0])}, nil
	case page.NextShardIterator == nil:
		return position{Kind: positionEnd}, nil
	case last != "":
		return position{positionAfter, last}, nil
	}
	return position{}, nil
}

// maxEmptyPages is the number of pages without records after which the search for the last record of a shard ends: AWS
// may return empty pages before others.
const maxEmptyPages = 20

// lastSequence returns the sequence number of the last record of a shard that was created until now.
func (m *streamMapping) lastSequence(ctx context.Context, arn, shard string, now time.Time) (last string, err error) {
	next, err := m.iterator(ctx, arn, shard, types.ShardIteratorTypeTrimHorizon, "")
	for empty := 0; next != "" && empty < maxEmptyPages && err == nil; {
		var page *dynamodbstreams.GetRecordsOutput
		if page, err = m.records(ctx, next); err != nil {
			break
		}
		next = aws.ToString(page.NextShardIterator)
		if len(page.Records) == 0 {
			empty++
			pause(ctx, m.options.PollInterval)
			continue
		}
		empty = 0
		for _, r := range page.Records {
			if created(r).After(now) {
				return last, nil
			}
			last = sequence(r)
		}
	}
	return last, err
}

func (m *streamMapping) iterator(
	ctx context.Context, arn, shard string, kind types.ShardIteratorType, sequence string,
) (string, error) {
	in := &dynamodbstreams.GetShardIteratorInput{StreamArn: &arn, ShardId: &shard, ShardIteratorType: kind}
	if sequence != "" {
		in.SequenceNumber = &sequence
	}
	out, err := m.streams.GetShardIterator(ctx, in)
	if err != nil {
		return "", fmt.Errorf("shard %s: iterator at %s %s: %w", shard, kind, sequence, err)
	}
	return aws.ToString(out.ShardIterator), nil
}

// pageSize is the maximum number of records that GetRecords returns.
const pageSize = 1000

func (m *streamMapping) records(ctx context.Context, iterator string) (*dynamodbstreams.GetRecordsOutput, error) {
	in := &dynamodbstreams.GetRecordsInput{ShardIterator: &iterator, Limit: aws.Int32(pageSize)}
	out, err := m.streams.GetRecords(ctx, in)
	if err != nil {
		return nil, fmt.Errorf("get records: %w", err)
	}
	return out, nil
}
