import * as React from "react";
import { cva, type VariantProps } from "class-variance-authority";
import { styled } from "@/lib/styled";
import { cn } from "@/lib/utils";

const alertVariants = cva("relative w-full rounded-lg border p-4 [&>svg]:absolute [&>svg]:left-4 [&>svg]:top-4 [&>svg]:size-4 [&>svg~*]:pl-7", {
  variants: {
    variant: {
      default: "bg-background text-foreground",
      destructive: "border-destructive/50 text-destructive dark:border-destructive",
      info: "border-primary/30 bg-primary/5",
    },
  },
  defaultVariants: { variant: "default" },
});

export function Alert({
  className,
  variant,
  ...props
}: React.HTMLAttributes<HTMLDivElement> & VariantProps<typeof alertVariants>) {
  return <div role="alert" className={cn(alertVariants({ variant }), className)} {...props} />;
}

export const AlertTitle = styled("h5", "mb-1 font-medium leading-none tracking-tight");
export const AlertDescription = styled("div", "text-sm text-muted-foreground [&_p]:leading-relaxed");
