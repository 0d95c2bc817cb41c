package provision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/infra/local/resources"
)

// table creates a table. If it exists, table checks its key, and updates its stream, indexes and time to live. On the
// local platform, all changes of a table are complete when the request ends.
func (p *provisioner) table(ctx context.Context, want resources.Table) error {
	found, err := p.tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &want.Name})
	if _, isMissing := errors.AsType[*types.ResourceNotFoundException](err); isMissing {
		if err := p.createTable(ctx, want); err != nil {
			return err
		}
		return p.timeToLive(ctx, want)
	}
	if err != nil {
		return fmt.Errorf("describe: %w", err)
	}
	have := found.Table
	wantKey := describeKey(keySchema(want.Key), definitions(want.Attributes))
	if err := checkSame(wantKey, describeKey(have.KeySchema, have.AttributeDefinitions)); err != nil {
		return err
	}
	if err := p.stream(ctx, want, have); err != nil {
		return err
	}
	if err := p.indexes(ctx, want, have); err != nil {
		return err
	}
	return p.timeToLive(ctx, want)
}

func (p *provisioner) createTable(ctx context.Context, want resources.Table) error {
	in := &dynamodb.CreateTableInput{
		TableName: &want.Name, KeySchema: keySchema(want.Key), AttributeDefinitions: definitions(want.Attributes),
		BillingMode: types.BillingModePayPerRequest,
	}
	if want.StreamViewType != "" {
		in.StreamSpecification = streamSpecification(want.StreamViewType)
	}
	for _, index := range want.Indexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: &index.Name, KeySchema: keySchema(index.Key), Projection: projection(index),
		})
	}
	if _, err := p.tables.CreateTable(ctx, in); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	p.note("tables", want.Name)
	return nil
}

// stream enables or disables a table's stream. DynamoDB can't change the view of a stream: it is disabled, and a new
// one is enabled. Records of the old stream stay readable under its ARN for a day.
func (p *provisioner) stream(ctx context.Context, want resources.Table, have *types.TableDescription) error {
	view := ""
	if spec := have.StreamSpecification; spec != nil && aws.ToBool(spec.StreamEnabled) {
		view = string(spec.StreamViewType)
	}
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
		if _, err := p.tables.UpdateTable(ctx, in); err != nil {
			return fmt.Errorf("update the stream: %w", err)
		}
	}
	p.note("streams of", want.Name)
	return nil
}

func streamSpecification(view string) *types.StreamSpecification {
	return &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewType(view)}
}

// indexes adds missing indexes, one at a time as DynamoDB requires. Indexes that are not in the template stay.
func (p *provisioner) indexes(ctx context.Context, want resources.Table, have *types.TableDescription) error {
	for _, index := range want.Indexes {
		at := slices.IndexFunc(have.GlobalSecondaryIndexes, func(existing types.GlobalSecondaryIndexDescription) bool {
			return aws.ToString(existing.IndexName) == index.Name
		})
		if at >= 0 {
			if err := checkSameIndex(want, index, have, have.GlobalSecondaryIndexes[at]); err != nil {
				return fmt.Errorf("index %s: %w", index.Name, err)
			}
			continue
		}
		if _, err := p.tables.UpdateTable(ctx, &dynamodb.UpdateTableInput{
			TableName: &want.Name, AttributeDefinitions: keyDefinitions(want, index),
			GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
				IndexName: &index.Name, KeySchema: keySchema(index.Key), Projection: projection(index),
			}}},
		}); err != nil {
			return fmt.Errorf("create index %s: %w", index.Name, err)
		}
		p.note("indexes", want.Name+"/"+index.Name)
	}
	return nil
}

// timeToLive enables or disables the expiry of items, or changes its attribute.
func (p *provisioner) timeToLive(ctx context.Context, want resources.Table) error {
	out, err := p.tables.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &want.Name})
	if err != nil {
		return fmt.Errorf("describe time to live: %w", err)
	}
	have, description := "", out.TimeToLiveDescription
	if strings.HasPrefix(string(description.TimeToLiveStatus), "ENABL") { // ENABLED or ENABLING
		have = aws.ToString(description.AttributeName)
	}
	if have == want.TTLAttribute {
		return nil
	}
	for _, spec := range []types.TimeToLiveSpecification{
		{AttributeName: &have, Enabled: aws.Bool(false)}, {AttributeName: &want.TTLAttribute, Enabled: aws.Bool(true)},
	} {
		if *spec.AttributeName == "" {
			continue
		}
		in := &dynamodb.UpdateTimeToLiveInput{TableName: &want.Name, TimeToLiveSpecification: &spec}
		if _, err := p.tables.UpdateTimeToLive(ctx, in); err != nil {
			return fmt.Errorf("update time to live: %w", err)
		}
	}
	p.note("time to live of", want.Name)
	return nil
}

// checkSame returns an error if the description of a table or an index in the template differs from the existing one.
func checkSame(want, have string) error {
	if want == have {
		return nil
	}
	return fmt.Errorf("exists with %s, the template has %s: this can't be changed; "+
		"remove the old one, or give the new one another name", have, want)
}

// describeKey returns a text such as "the key HASH pk (S), RANGE sk (S)".
func describeKey(key []types.KeySchemaElement, attributes []types.AttributeDefinition) string {
	var parts []string
	for _, part := range key {
		for _, attribute := range attributes {
			if *attribute.AttributeName == *part.AttributeName {
				parts = append(parts, fmt.Sprintf("%s %s (%s)", part.KeyType, *part.AttributeName, attribute.AttributeType))
			}
		}
	}
	return "the key " + strings.Join(parts, ", ")
}

// describeProjection returns a text such as " and the projection INCLUDE [a b]".
func describeProjection(p *types.Projection) string {
	return fmt.Sprint(" and the projection ", p.ProjectionType, " ", slices.Sorted(slices.Values(p.NonKeyAttributes)))
}

// checkSameIndex returns an error if an index of the template differs from the existing one.
func checkSameIndex(
	wantTable resources.Table, want resources.Index,
	haveTable *types.TableDescription, have types.GlobalSecondaryIndexDescription,
) error {
	return checkSame(
		describeKey(keySchema(want.Key), definitions(wantTable.Attributes))+describeProjection(projection(want)),
		describeKey(have.KeySchema, haveTable.AttributeDefinitions)+describeProjection(have.Projection),
	)
}

func keySchema(parts []resources.KeyPart) []types.KeySchemaElement {
	elements := make([]types.KeySchemaElement, len(parts))
	for i, part := range parts {
		elements[i] = types.KeySchemaElement{AttributeName: &part.Name, KeyType: types.KeyType(part.Type)}
	}
	return elements
}

func definitions(attributes []resources.Attribute) []types.AttributeDefinition {
	all := make([]types.AttributeDefinition, len(attributes))
	for i, attribute := range attributes {
		all[i] = types.AttributeDefinition{
			AttributeName: &attribute.Name, AttributeType: types.ScalarAttributeType(attribute.Type),
		}
	}
	return all
}

// keyDefinitions returns the attributes in the keys of the table and the new index.
func keyDefinitions(table resources.Table, index resources.Index) []types.AttributeDefinition {
	used := slices.Concat(table.Key, index.Key)
	return slices.DeleteFunc(definitions(table.Attributes), func(definition types.AttributeDefinition) bool {
		return !slices.ContainsFunc(used, func(part resources.KeyPart) bool { return part.Name == *definition.AttributeName })
	})
}

func projection(index resources.Index) *types.Projection {
	return &types.Projection{
		ProjectionType: types.ProjectionType(index.Projection.Type), NonKeyAttributes: index.Projection.NonKeyAttributes,
	}
}
