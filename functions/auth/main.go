// Command auth is the Lambda function behind /api/auth.
package main

import (
	"devplatform/shared/account"
	"devplatform/shared/lambdafn/apigateway"
)

func main() { apigateway.Start(account.Function) }
