#include <string.h>
#include "pnl.h"
#include "lobjective.h"
typedef struct V { double *d; size_t n, r, c; double s[]; } V;
static int vidx(lua_State *L){ V*v=pnl_check(L,1,&pnl_vec_class); lua_Integer i=luaL_checkinteger(L,2); if(i<1||(size_t)i>v->n) return 0; lua_pushnumber(L,v->d[i-1]); return 1;}
static int vlen(lua_State *L){ V*v=pnl_check(L,1,&pnl_vec_class); lua_pushinteger(L,(lua_Integer)v->n); return 1;}
static const pnl_row vr[]={{"__len",vlen,PNL_META,PNL_NOTHING,"#v","n"},PNL_ROW_END};
const pnl_class pnl_vec_class={"pn.vec",pn_free,vr,"v",vidx,NULL};
static int mget(lua_State*L){V*v=pnl_check(L,1,&pnl_mat_class); lua_pushnumber(L,v->d[(size_t)(luaL_checkinteger(L,2)-1)*v->c+(size_t)luaL_checkinteger(L,3)-1]);return 1;}
static int mr(lua_State*L){V*v=pnl_check(L,1,&pnl_mat_class);lua_pushinteger(L,(lua_Integer)v->r);return 1;}
static int mc(lua_State*L){V*v=pnl_check(L,1,&pnl_mat_class);lua_pushinteger(L,(lua_Integer)v->c);return 1;}
static const pnl_row mrw[]={{"get",mget,PNL_METHOD,PNL_NOTHING,"g","g"},{"rows",mr,PNL_FIELD,PNL_NOTHING,"g","g"},{"cols",mc,PNL_FIELD,PNL_NOTHING,"g","g"},PNL_ROW_END};
const pnl_class pnl_mat_class={"pn.mat",pn_free,mrw,"m",NULL,NULL};
static double*mk(lua_State*L,const pnl_class*c,size_t r,size_t k){void**s=pnl_newbox(L,c);V*v=pn_calloc(1,sizeof(V)+r*k*8);if(!v)luaL_error(L,"mem");v->d=v->s;v->n=r*k;v->r=r;v->c=k;*s=v;return v->d;}
double*pnl_new_vec(lua_State*L,size_t n){return mk(L,&pnl_vec_class,n,1);}
double*pnl_new_mat(lua_State*L,size_t r,size_t c){return mk(L,&pnl_mat_class,r,c);}
pn_vec pnl_check_vec(lua_State*L,int i){V*v; i=lua_absindex(L,i); if(lua_istable(L,i)){size_t n=lua_rawlen(L,i);double*d=pnl_new_vec(L,n);for(size_t j=0;j<n;j++){lua_rawgeti(L,i,(lua_Integer)j+1);d[j]=luaL_checknumber(L,-1);lua_pop(L,1);}lua_replace(L,i);} v=pnl_check(L,i,&pnl_vec_class);return (pn_vec){v->d,v->n};}
pn_mat pnl_check_mat(lua_State*L,int i){V*v; i=lua_absindex(L,i); if(lua_istable(L,i)){size_t r=lua_rawlen(L,i),c; lua_rawgeti(L,i,1); c=r?lua_rawlen(L,-1):0; lua_pop(L,1);double*d=pnl_new_mat(L,r,c);for(size_t j=0;j<r;j++){lua_rawgeti(L,i,(lua_Integer)j+1);for(size_t k=0;k<c;k++){lua_rawgeti(L,-1,(lua_Integer)k+1);d[j*c+k]=luaL_checknumber(L,-1);lua_pop(L,1);}lua_pop(L,1);}lua_replace(L,i);} v=pnl_check(L,i,&pnl_mat_class);return (pn_mat){v->d,v->r,v->c};}
#define S(x) const pnl_class x={#x,pn_free,NULL,"stub",NULL,NULL};
S(pnl_dataset_class) S(pnl_objective_class) S(pnl_event_class) S(pnl_ledger_class)
void pnl_open_objective(lua_State*L){pnl_open_loss(L);}
