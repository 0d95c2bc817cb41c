import * as T from "@radix-ui/react-tabs";
import { styled } from "@/lib/styled";

export const Tabs = T.Root;
export const TabsList = styled(T.List, "inline-flex h-10 items-center rounded-md bg-muted p-1 text-muted-foreground");
export const TabsTrigger = styled(
  T.Trigger,
  "inline-flex items-center justify-center whitespace-nowrap rounded-sm px-3 py-1.5 text-sm font-medium transition-all focus-visible:outline-none focus-visible:ring-2 focus-visible:ring-ring data-[state=active]:bg-background data-[state=active]:text-foreground data-[state=active]:shadow-sm",
);
export const TabsContent = styled(T.Content, "mt-4 focus-visible:outline-none");
