package deployment

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"devplatform/shared/db"
)

// A site whose record has no deployments, for example because it was damaged, can have new ones.
func TestChangeOfSiteWithoutDeployments(t *testing.T) {
	t.Parallel()
	for name, item := range map[string]db.Item{
		"no record":    nil,
		"no attribute": {"label": &types.AttributeValueMemberS{Value: "todo-list"}},
		"null":         {"deployments": &types.AttributeValueMemberNULL{Value: true}},
	} {
		c, err := Store{}.change("prj_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "ws_01K9ZQ3V7M8T5XW2ABCDEFGHJK", "Todo", item, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		d := Deployment{ID: "dpl_01K9ZQ3V7M8T5XW2ABCDEFGHJK", ProjectID: c.projectID}
		c.putDeployment(d, expression.AttributeNotExists(expression.Name(db.AttrPK)))
		if _, ok := c.site.Deployments[d.ID]; !ok {
			t.Errorf("%s: got deployments %v, want %s", name, c.site.Deployments, d.ID)
		}
	}
}
