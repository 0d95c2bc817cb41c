// Command webhooks is the Lambda function behind /api/webhooks.
package main

import "devplatform/shared/lambdafn/apigateway"

func main() { apigateway.Start(newHandler) }
