package provision

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/stack"
)

// streamTries is how often a stream is switched before its failure is told: several who do it at once undo each other's steps.
const streamTries = 5

// stream switches a table's stream on or off. One that shows something else of the items is ended and another begun:
// DynamoDB can't change a stream. What the old one holds stays readable under its own ARN for a day.
func (p *provisioner) stream(ctx context.Context, want stack.Table, have *types.TableDescription) error {
	if viewOf(have) == want.StreamViewType {
		return nil
	}
	err := p.towards(ctx, want, have)
	for try := 1; err != nil && try < streamTries; try++ {
		now, failed := p.describeTable(ctx, want.Name)
		if failed != nil {
			return err
		}
		if now, failed = p.settle(ctx, now); failed != nil {
			return err
		}
		err = p.towards(ctx, want, now)
	}
	if err == nil {
		p.note(&p.made.Streams, want.Name)
	}
	return err
}

// towards takes the steps from what a table has to what is wanted.
func (p *provisioner) towards(ctx context.Context, want stack.Table, have *types.TableDescription) error {
	if view := viewOf(have); view != "" && view != want.StreamViewType {
		var err error
		if have, err = p.switchStream(ctx, want, &types.StreamSpecification{StreamEnabled: aws.Bool(false)}); err != nil {
			return fmt.Errorf("switch the stream off: %w", err)
		}
	}
	if viewOf(have) != want.StreamViewType {
		if _, err := p.switchStream(ctx, want, streamOn(want.StreamViewType)); err != nil {
			return fmt.Errorf("switch the stream on: %w", err)
		}
	}
	return nil
}

// switchStream takes one step and waits until it is done. It is no failure if somebody else was faster, with this step or
// with all of them.
func (p *provisioner) switchStream(ctx context.Context, want stack.Table, to *types.StreamSpecification) (*types.TableDescription, error) {
	out, err := p.tables.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &want.Name, StreamSpecification: to})
	if err == nil {
		return p.settle(ctx, out.TableDescription)
	}
	err = fmt.Errorf("update: %w", err)
	have, failed := p.describeTable(ctx, want.Name)
	if failed != nil {
		return nil, err
	}
	if have, failed = p.settle(ctx, have); failed != nil {
		return nil, err
	}
	if view := viewOf(have); view != string(to.StreamViewType) && view != want.StreamViewType {
		return nil, err
	}
	return have, nil
}

func streamOn(view string) *types.StreamSpecification {
	return &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewType(view)}
}

// viewOf is what a table's stream shows of the items; "" where none is on.
func viewOf(table *types.TableDescription) string {
	if spec := table.StreamSpecification; spec != nil && aws.ToBool(spec.StreamEnabled) {
		return string(spec.StreamViewType)
	}
	return ""
}
