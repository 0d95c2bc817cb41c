package provision

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/stack"
)

// streamAttempts is the maximum number of updates of a table. Two are needed to change the view of a stream. More are
// needed if several processes do it concurrently, because they undo each other's updates.
const streamAttempts = 10

// stream enables or disables a table's stream. DynamoDB can't change the view of a stream: it is disabled, and a new
// one is enabled. Records of the old stream stay readable under its ARN for a day.
func (p *provisioner) stream(ctx context.Context, want stack.Table, have *types.TableDescription) error {
	if viewOf(have) == want.StreamViewType {
		return nil
	}
	var failed error
	for range streamAttempts {
		to, action := streamSpecification(want.StreamViewType), "on"
		if viewOf(have) != "" {
			to, action = &types.StreamSpecification{StreamEnabled: aws.Bool(false)}, "off"
		}
		out, err := p.tables.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &want.Name, StreamSpecification: to})
		if err == nil {
			have = out.TableDescription
		} else {
			failed = fmt.Errorf("switch the stream %s: update: %w", action, err)
			if have, err = p.describeTable(ctx, want.Name); err != nil { // another process may have updated the table
				return failed
			}
		}
		if have, err = p.waitUntilActive(ctx, have); err != nil {
			return err
		}
		if viewOf(have) == want.StreamViewType {
			p.note(&p.made.Streams, want.Name)
			return nil
		}
	}
	return failed
}

func streamSpecification(view string) *types.StreamSpecification {
	return &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewType(view)}
}

// viewOf returns the view type of a table's stream, "" if it has none.
func viewOf(table *types.TableDescription) string {
	if spec := table.StreamSpecification; spec != nil && aws.ToBool(spec.StreamEnabled) {
		return string(spec.StreamViewType)
	}
	return ""
}
