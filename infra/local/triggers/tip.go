package triggers

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// tips turns LATEST into positions that can be kept: an iterator can't, it expires. Shards that are closed are done;
// of the others, what was written until now is passed over.
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

// tip finds the position of LATEST in a shard: behind the last record that an iterator made before does not give. The
// zero position means that the shard had none.
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

// maxEmptyPages is how many pages without records end the search for the last record of a shard: AWS may give some before
// it gives more, and does not say how many.
const maxEmptyPages = 20

// lastSequence reads a shard to where nothing more is, or came after now, and returns the sequence number of the last
// record before.
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

func (m *streamMapping) iterator(ctx context.Context, arn, shard string, kind types.ShardIteratorType, sequence string) (string, error) {
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

// pageSize is the most records that GetRecords gives.
const pageSize = 1000

func (m *streamMapping) records(ctx context.Context, iterator string) (*dynamodbstreams.GetRecordsOutput, error) {
	out, err := m.streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: &iterator, Limit: aws.Int32(pageSize)})
	if err != nil {
		return nil, fmt.Errorf("get records: %w", err)
	}
	return out, nil
}
