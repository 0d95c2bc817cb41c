import { useState } from "react";
import { ArrowUpDown, UserSearch } from "lucide-react";
import { useSearchParams } from "react-router-dom";
import { CustomerSheet } from "@/components/CustomerSheet";
import { EmptyState } from "@/components/EmptyState";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Input } from "@/components/ui/input";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import { customers, type Customer } from "@/data/sample";
import { money } from "@/lib/utils";

const Customers = () => {
  const [params, setParams] = useSearchParams();
  const [ascending, setAscending] = useState(false);
  const [open, setOpen] = useState<Customer | null>(null);
  const query = params.get("q") ?? "";
  const rows = customers
    .filter((customer) => `${customer.name} ${customer.company}`.toLowerCase().includes(query.toLowerCase()))
    .sort((a, b) => (ascending ? a.spent - b.spent : b.spent - a.spent));

  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-3">
        <h1 className="page-title">Customers</h1>
        <Input
          className="max-w-64"
          placeholder="Name or company"
          value={query}
          onChange={(event) => setParams(event.target.value ? { q: event.target.value } : {}, { replace: true })}
        />
      </div>
      <Card>
        {rows.length === 0 ? (
          <EmptyState icon={UserSearch} title={`Nobody is called “${query}”`}>
            Customers appear here after their first order.
          </EmptyState>
        ) : (
          <Table>
            <TableHeader>
              <TableRow>
                <TableHead>Name</TableHead>
                <TableHead className="hidden sm:table-cell">Company</TableHead>
                <TableHead>Plan</TableHead>
                <TableHead className="text-right">
                  <Button variant="ghost" size="sm" className="px-0 sm:px-3" onClick={() => setAscending(!ascending)}>
                    Spent <ArrowUpDown />
                  </Button>
                </TableHead>
              </TableRow>
            </TableHeader>
            <TableBody>
              {rows.map((customer) => (
                <TableRow key={customer.id} className="cursor-pointer" onClick={() => setOpen(customer)}>
                  <TableCell className="max-w-[9.5rem] sm:max-w-none">
                    <p className="font-medium">{customer.name}</p>
                    <p className="truncate text-xs text-muted-foreground">{customer.email}</p>
                  </TableCell>
                  <TableCell className="hidden sm:table-cell">{customer.company}</TableCell>
                  <TableCell>
                    <Badge variant="secondary">{customer.plan}</Badge>
                  </TableCell>
                  <TableCell className="text-right tabular-nums">{money(customer.spent)}</TableCell>
                </TableRow>
              ))}
            </TableBody>
          </Table>
        )}
      </Card>
      <CustomerSheet customer={open} onClose={() => setOpen(null)} />
    </>
  );
};

export default Customers;
