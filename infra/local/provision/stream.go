package provision

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/resources"
)

// stream enables or disables a table's stream. DynamoDB can't change the view of a stream: it is disabled, and a new
// one is enabled. Records of the old stream stay readable under its ARN for a day.
func (p *provisioner) stream(ctx context.Context, want resources.Table, have *types.TableDescription) error {
	view := viewOf(have)
	if view == want.StreamViewType {
		return nil
	}
	var updates []*types.StreamSpecification
	if view != "" {
		updates = append(updates, &types.StreamSpecification{StreamEnabled: aws.Bool(false)})
	}
	if want.StreamViewType != "" {
		updates = append(updates, streamSpecification(want.StreamViewType))
	}
	for _, update := range updates {
		in := &dynamodb.UpdateTableInput{TableName: &want.Name, StreamSpecification: update}
		out, err := p.tables.UpdateTable(ctx, in)
		if err != nil {
			return fmt.Errorf("update the stream: %w", err)
		}
		if _, err := p.waitUntilActive(ctx, out.TableDescription); err != nil {
			return err
		}
	}
	p.note("streams of", want.Name)
	return nil
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
