package stack

import "devplatform/infra/local/resources"

// anyStream stands for the end of a stream's ARN, which on AWS is the time at which the stream began.
const anyStream = "/stream/*"

type (
	// tableProperties are the properties of a table. LocalSecondaryIndexes, KinesisStreamSpecification and
	// ImportSourceSpecification are not supported. DynamoDB checks the keys when it creates the table.
	tableProperties struct {
		object
		_ struct{} `ignored:"BillingMode ContributorInsightsSpecification DeletionProtectionEnabled OnDemandThroughput"`
		_ struct{} `ignored:"PointInTimeRecoverySpecification ProvisionedThroughput ResourcePolicy SSESpecification"`
		_ struct{} `ignored:"TableClass Tags WarmThroughput"`

		AttributeDefinitions    []resources.Attribute
		KeySchema               []resources.KeyPart
		GlobalSecondaryIndexes  []resources.Index
		StreamSpecification     *streamProperties
		TimeToLiveSpecification *struct {
			AttributeName string
			Enabled       bool `cfn:",required"`
		}
	}
	streamProperties struct {
		object `ignored:"ResourcePolicy Tags"`

		StreamViewType string `cfn:",required,oneof=KEYS_ONLY|NEW_IMAGE|OLD_IMAGE|NEW_AND_OLD_IMAGES"`
	}
)

func (b *builder) table(res *resource) {
	var p tableProperties
	b.decodeProperties(res, &p)
	table := resources.Table{
		LogicalID: res.id, Name: b.nameOf(res), Key: p.KeySchema, Attributes: p.AttributeDefinitions,
		Indexes: p.GlobalSecondaryIndexes,
	}
	if p.StreamSpecification != nil {
		table.StreamViewType = p.StreamSpecification.StreamViewType
	}
	if ttl := p.TimeToLiveSpecification; ttl != nil && ttl.Enabled {
		table.TTLAttribute = ttl.AttributeName
		if ttl.AttributeName == "" {
			p.problem("TimeToLiveSpecification", "must have an AttributeName if it is enabled")
		}
	}
	b.stack.Tables = append(b.stack.Tables, table)
}

// hasStream reports whether a table has a StreamSpecification.
func (e *evaluator) hasStream(table *resource) bool {
	n := table.properties.get("StreamSpecification")
	return n != nil && e.try(n) != nil
}
