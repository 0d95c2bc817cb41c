package stack

import "slices"

const (
	onDemand    = "PAY_PER_REQUEST"
	provisioned = "PROVISIONED"
	// anyStream stands for the end of a stream's ARN, which on AWS is the time at which the stream began.
	anyStream = "/stream/*"
)

type (
	// tableProperties are the properties of a table. LocalSecondaryIndexes, KinesisStreamSpecification and
	// ImportSourceSpecification are not supported.
	tableProperties struct {
		object
		_ struct{} `ignored:"ContributorInsightsSpecification DeletionProtectionEnabled OnDemandThroughput"`
		_ struct{} `ignored:"PointInTimeRecoverySpecification ResourcePolicy SSESpecification TableClass Tags"`
		_ struct{} `ignored:"WarmThroughput"`

		TableName               string
		AttributeDefinitions    []Attribute
		KeySchema               []KeyPart
		GlobalSecondaryIndexes  []indexProperties
		BillingMode             string `cfn:",default=PROVISIONED,oneof=PAY_PER_REQUEST|PROVISIONED"`
		ProvisionedThroughput   *throughput
		StreamSpecification     *streamProperties
		TimeToLiveSpecification *ttlProperties
	}
	indexProperties struct {
		object `ignored:"ContributorInsightsSpecification OnDemandThroughput WarmThroughput"`

		IndexName             string `cfn:",required"`
		KeySchema             []KeyPart
		Projection            *projection `cfn:",required"`
		ProvisionedThroughput *throughput
	}
	projection struct {
		ProjectionType   string `cfn:",required,oneof=ALL|KEYS_ONLY|INCLUDE"`
		NonKeyAttributes []string
	}
	throughput struct {
		ReadCapacityUnits  int `cfn:",required,min=1,max=2147483647"`
		WriteCapacityUnits int `cfn:",required,min=1,max=2147483647"`
	}
	streamProperties struct {
		object `ignored:"ResourcePolicy Tags"`

		StreamViewType string `cfn:",required,oneof=KEYS_ONLY|NEW_IMAGE|OLD_IMAGE|NEW_AND_OLD_IMAGES"`
	}
	ttlProperties struct {
		AttributeName string
		Enabled       bool `cfn:",required"`
	}
	simpleTableProperties struct {
		object `ignored:"PointInTimeRecoverySpecification SSESpecification Tags"`

		TableName             string
		ProvisionedThroughput *throughput
		PrimaryKey            struct {
			Name string `cfn:",default=id"`
			Type string `cfn:",default=String,oneof=String|Number|Binary"`
		}
	}
)

func (b *builder) table(res *resource) {
	var p tableProperties
	b.decodeProperties(res, &p)
	table := Table{
		LogicalID: res.id, Name: b.nameOf(res), ARN: b.arn(res), Key: p.KeySchema, Attributes: p.AttributeDefinitions,
		BillingMode: p.BillingMode,
	}
	p.checkKey(p.KeySchema)
	for _, i := range p.GlobalSecondaryIndexes {
		table.Indexes = append(table.Indexes, i.index(p.BillingMode))
	}
	table.ReadUnits, table.WriteUnits = p.units(p.ProvisionedThroughput, p.BillingMode)
	if p.StreamSpecification != nil {
		table.StreamViewType = p.StreamSpecification.StreamViewType
	}
	if ttl := p.TimeToLiveSpecification; ttl != nil && ttl.Enabled {
		table.TTLAttribute = ttl.AttributeName
		if ttl.AttributeName == "" {
			p.problem("TimeToLiveSpecification", "must have an AttributeName if it is enabled")
		}
	}
	p.checkAttributes(table)
	b.stack.Tables = append(b.stack.Tables, table)
}

func (i indexProperties) index(billing string) Index {
	i.checkKey(i.KeySchema)
	index := Index{Name: i.IndexName, Key: i.KeySchema}
	if i.Projection != nil {
		index.Projection, index.NonKeyAttributes = i.Projection.ProjectionType, i.Projection.NonKeyAttributes
		if (index.Projection == "INCLUDE") != (len(index.NonKeyAttributes) > 0) {
			i.problem("Projection", "must have NonKeyAttributes if, and only if, ProjectionType is INCLUDE")
		}
	}
	index.ReadUnits, index.WriteUnits = i.units(i.ProvisionedThroughput, billing)
	return index
}

// checkKey checks that a key is a partition key and at most one sort key.
func (o object) checkKey(key []KeyPart) {
	if len(key) == 0 || len(key) > 2 || key[0].Type != "HASH" || (len(key) == 2 && key[1].Type != "RANGE") {
		o.problem("KeySchema", "must have a HASH key, and may have a RANGE key after it")
	}
}

// units returns the capacity, which provisioned tables must have, and others must not have.
func (o object) units(t *throughput, billing string) (read, write int64) {
	switch {
	case t == nil && billing == provisioned:
		o.problem("ProvisionedThroughput", "is missing: BillingMode is %s unless it is set to %s", provisioned, onDemand)
	case t != nil && billing == onDemand:
		o.problem("ProvisionedThroughput", "must not be present with BillingMode %s", onDemand)
	case t != nil:
		return int64(t.ReadCapacityUnits), int64(t.WriteCapacityUnits)
	}
	return 0, 0
}

// checkAttributes checks that the defined attributes are those that keys use, as DynamoDB does.
func (o object) checkAttributes(table Table) {
	keys, names := slices.Clone(table.Key), map[string]bool{}
	for _, index := range table.Indexes {
		keys = append(keys, index.Key...)
		if names[index.Name] {
			o.problem("GlobalSecondaryIndexes", "two indexes have the name %s", index.Name)
		}
		names[index.Name] = true
	}
	defined := map[string]bool{}
	for _, attribute := range table.Attributes {
		if defined[attribute.Name] {
			o.problem("AttributeDefinitions", "%s is defined twice", attribute.Name)
		} else if !slices.ContainsFunc(keys, func(part KeyPart) bool { return part.Name == attribute.Name }) {
			o.problem("AttributeDefinitions", "%s is in no key", attribute.Name)
		}
		defined[attribute.Name] = true
	}
	for _, part := range keys {
		if part.Name != "" && !defined[part.Name] {
			o.problem("AttributeDefinitions", "%s is in a key and not defined", part.Name)
			defined[part.Name] = true
		}
	}
}

// simpleTable builds SAM's table with a partition key.
func (b *builder) simpleTable(res *resource) {
	var p simpleTableProperties
	b.decodeProperties(res, &p)
	key := p.PrimaryKey
	table := Table{
		LogicalID: res.id, Name: b.nameOf(res), ARN: b.arn(res), BillingMode: onDemand, Key: []KeyPart{{key.Name, "HASH"}},
		Attributes: []Attribute{{key.Name, map[string]string{"String": "S", "Number": "N", "Binary": "B"}[key.Type]}},
	}
	if p.ProvisionedThroughput != nil {
		table.BillingMode = provisioned
		table.ReadUnits, table.WriteUnits = p.units(p.ProvisionedThroughput, provisioned)
	}
	b.stack.Tables = append(b.stack.Tables, table)
}

// hasStream reports whether a table has a StreamSpecification.
func (e *evaluator) hasStream(table *resource) bool {
	e.muted++
	defer func() { e.muted-- }()
	return e.mapping(table.at(), 0, table.properties).has("StreamSpecification")
}

// tableByStream returns the name of the table whose stream has an ARN.
func (b *builder) tableByStream(arn string) (name string, found bool) {
	for _, res := range b.resources {
		if res.typ == typeTable && b.active(res) && b.arn(res)+anyStream == arn {
			return b.nameOf(res), true
		}
	}
	return "", false
}
